import type { Command, ReplayDocument } from '@backstop/contracts'
import { isRetryable } from '@backstop/kit'
import type { ReplayStore } from '../store/requeue-store.ts'
import { type RequeuerOptions, requeue } from './requeue-delivery.ts'

export interface ReplaysOptions extends RequeuerOptions {
  readonly replays: ReplayStore
}

/** Deliveries that a replay sends again in one go. So many may wait for their attempt before it goes on. */
const PAGE = 100
/** How often a process that has no replay at work looks for one that another left behind, in milliseconds. */
const IDLE_MS = 15_000
/** Pause between two pages of one replay, in milliseconds. */
const BETWEEN_PAGES_MS = 500
/** After this a page counts as left behind by a process that died. */
const PAGE_TAKES_AT_MOST_MS = 30_000

/** Begins a bulk replay. A crash after this leaves it to whoever looks for running ones. @returns why or why not */
export async function beginReplay(
  command: Extract<Command, { kind: 'replay_deliveries' }>,
  { replays, requeues, clock }: ReplaysOptions,
): Promise<'begun' | 'begun_before'> {
  const window = {
    project_id: command.project_id,
    channel_id: command.channel_id,
    from: new Date(command.from),
    to: new Date(command.to),
  }
  const isNew = await replays.begin({
    _id: command.replay_id,
    ...window,
    state: 'running',
    total: await requeues.countDead(window),
    requeued: 0,
    requested_at: new Date(command.requested_at),
    cursor: null,
    next_page_at: new Date(clock.now()),
    finished_at: null,
  })
  return isNew ? 'begun' : 'begun_before'
}

/**
 * Walks the running replays page by page, each as fast as its channel takes what was sent again. Any process may send the
 * next page; a page that a crash cut short is sent again, and changes nothing where it had come to its end.
 */
export class ReplayWalker {
  readonly #options: ReplaysOptions
  #cancel = () => {}
  #atWork: Promise<void> | undefined
  #isStopped = false

  constructor(options: ReplaysOptions) {
    this.#options = options
  }

  start(): void {
    this.#lookAfter(IDLE_MS)
  }

  /** A replay has begun: looks at once instead of with the next round. */
  wake(): void {
    if (!this.#isStopped && this.#atWork === undefined) this.#lookAfter(0)
  }

  /** Waits for the page at work. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancel()
    await this.#atWork
  }

  #lookAfter(delayMs: number): void {
    this.#cancel()
    this.#cancel = this.#options.clock.schedule(delayMs, () => {
      this.#atWork = this.#walk()
        .catch(error => {
          const canRetry = isRetryable(error)
          this.#options.logger[canRetry ? 'warn' : 'error']({ error }, 'replay.deferred')
          return false
        })
        .then(isUnderWay => {
          this.#atWork = undefined
          if (!this.#isStopped) this.#lookAfter(isUnderWay ? BETWEEN_PAGES_MS : IDLE_MS)
        })
    })
  }

  /** @returns whether there was anything to do */
  async #walk(): Promise<boolean> {
    const { clock, replays } = this.#options
    for (let isUnderWay = false; ; isUnderWay = true) {
      const nowMs = clock.now()
      const replay = this.#isStopped ? undefined : await replays.claim(nowMs, nowMs + PAGE_TAKES_AT_MOST_MS)
      if (replay === undefined) return isUnderWay
      await sendPage(replay, this.#options)
    }
  }
}

async function sendPage(replay: ReplayDocument, options: ReplaysOptions): Promise<void> {
  const { replays, requeues, clock, logger } = options
  const { _id: requestId, project_id: projectId, channel_id } = replay
  const { cursor, requeued } = replay
  const next = () => ({ cursor, requeued, nextPageAtMs: clock.now() + BETWEEN_PAGES_MS, finishedAtMs: null })
  const waiting = await requeues.countWaiting(requestId, channel_id, PAGE)
  if (waiting >= PAGE) return replays.advance(replay, next())
  const page = await requeues.nextOfReplay(replay, PAGE)
  const last = page.at(-1)
  if (last === undefined) {
    await replays.advance(replay, { ...next(), finishedAtMs: clock.now() })
    logger.info({ replay_id: requestId, channel_id, project_id: projectId, requeued }, 'replay.finished')
    return
  }
  const sent = await requeue({ requestId, projectId, atOnce: false }, page, options)
  await replays.advance(replay, {
    ...next(),
    cursor: { created_at: last.created_at, delivery_id: last._id },
    requeued: requeued + sent,
  })
}
