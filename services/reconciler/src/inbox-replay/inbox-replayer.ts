import type { Command, InboxReplayDocument } from '@backstop/contracts'
import type { Producer } from '@backstop/kit/bus'
import { type Clock, createPeriodic, type Periodic } from '@backstop/kit/clock'
import type { Logger } from '@backstop/kit/logger'
import type { MessageCodec } from '@backstop/kit/registry'
import type { InboxReplayStore } from './inbox-replay-store.ts'
import { decideReplay, replayedMessage } from './replayed-message.ts'

export interface InboxReplayerParts {
  readonly replays: InboxReplayStore
  readonly producer: Producer
  readonly codec: Pick<MessageCodec, 'encode'>
  readonly clock: Clock
  readonly logger: Logger
}

/** Sends notifications of the inbox through the normal decision path again. */
export interface InboxReplayer extends Periodic {
  /** Starts a replay. Any process continues it. @returns the reason of the decision, for the log */
  begin(command: Extract<Command, { kind: 'replay_inbox' }>): Promise<'begun' | 'begun_before'>
}

/**
 * At most 200 events a second, so that a replay does not delay new notifications. A page is small, because a body may
 * have 1 MiB.
 */
const PAGE = 100
const BETWEEN_PAGES_MS = 500
/** How soon a process begins with a replay, or continues that of another process, in milliseconds. */
const LOOK_EVERY_MS = 2_000
/** Time after which another process may take over an unfinished page, in milliseconds. */
const PAGE_TAKES_AT_MOST_MS = 30_000

/**
 * Works through the running replays page by page. A page that a crash interrupted is sent again: deciding an event once
 * more changes nothing.
 */
export function createInboxReplayer(parts: InboxReplayerParts): InboxReplayer {
  const { replays, clock, logger } = parts
  let isSending = false
  const periodic = createPeriodic({
    clock,
    pauseMs: () => (isSending ? BETWEEN_PAGES_MS : LOOK_EVERY_MS),
    async run(isStopping) {
      isSending = await sendDuePages(parts, isStopping)
    },
    onFailure: error => logger.warn({ error }, 'inbox_replay.deferred'),
  })
  return {
    ...periodic,
    async begin({ replay_id, project_id, connection_id, event_ids, from, to, outcome, requested_at }) {
      const selection = { connection_id, event_ids, from: dateOf(from), to: dateOf(to), outcome }
      const isNew = await replays.begin({
        _id: replay_id,
        project_id,
        ...selection,
        state: 'running',
        total: await replays.count(project_id, selection),
        replayed: 0,
        skipped_erased: 0,
        skipped_objects: 0,
        requested_at: new Date(requested_at),
        cursor: null,
        next_page_at: new Date(clock.now()),
        finished_at: null,
      })
      return isNew ? 'begun' : 'begun_before'
    },
  }
}

/** Sends the due page of every running replay. @returns whether there may be further pages */
async function sendDuePages(parts: InboxReplayerParts, isStopping: () => boolean): Promise<boolean> {
  const { replays, clock } = parts
  for (let sent = 0; !isStopping(); sent++) {
    const nowMs = clock.now()
    const replay = await replays.claim(nowMs, nowMs + PAGE_TAKES_AT_MOST_MS)
    if (replay === undefined) return sent > 0
    await sendPage(replay, parts)
  }
  return false
}

async function sendPage(
  replay: InboxReplayDocument,
  { replays, producer, codec, clock, logger }: InboxReplayerParts,
): Promise<void> {
  const { _id: replay_id, project_id, connection_id, state, cursor, replayed, skipped_erased, skipped_objects } = replay
  const progress = { replayed, skipped_erased, skipped_objects }
  const page = await replays.page(replay, PAGE)
  const last = page.at(-1)
  if (last === undefined) {
    const now = new Date(clock.now())
    await replays.advance(replay, { state: 'done', ...progress, cursor, next_page_at: now, finished_at: now })
    logger.info({ replay_id, project_id, connection_id, ...progress }, 'inbox_replay.finished')
    return
  }
  const decisions = page.map(decideReplay)
  const messages = decisions.flatMap(decision =>
    decision.kind === 'send'
      ? [replayedMessage(decision.event, replay_id, event => codec.encode('inbound-event', event))]
      : [],
  )
  if (messages.length > 0) await producer.send(messages)
  const countSkipped = (reason: 'body_erased' | 'not_a_notification') =>
    decisions.filter(decision => decision.kind === 'skip' && decision.reason === reason).length
  await replays.advance(replay, {
    state,
    replayed: replayed + messages.length,
    skipped_erased: skipped_erased + countSkipped('body_erased'),
    skipped_objects: skipped_objects + countSkipped('not_a_notification'),
    cursor: { received_at: last.document.received_at, inbox_id: last.document._id },
    next_page_at: new Date(clock.now() + BETWEEN_PAGES_MS),
    finished_at: null,
  })
}

function dateOf(time: string | null): Date | null {
  return time === null ? null : new Date(time)
}
