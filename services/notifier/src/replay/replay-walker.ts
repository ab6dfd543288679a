import type { Command, ReplayDocument } from '@backstop/contracts'
import { isRetryable } from '@backstop/kit/errors'
import { type RequeuerOptions, requeue } from './requeue-delivery.ts'
import type { ReplayStore } from './requeue-store.ts'
import { overdueBefore } from './rules/decide-requeue.ts'

export interface ReplayOptions extends RequeuerOptions {
  readonly replays: ReplayStore
}

/**
 * Number of deliveries that a replay requeues at a time. The next page waits until at most this many wait for their
 * attempt.
 */
const PAGE = 100
/** How often an idle process looks for a replay that another process left unfinished, in milliseconds. */
const IDLE_MS = 15_000
/** Pause between two pages of one replay, in milliseconds. */
const BETWEEN_PAGES_MS = 500
/** Time after which another process may take over an unfinished page, in milliseconds. */
const PAGE_TAKES_AT_MOST_MS = 30_000

/** Starts a bulk replay. Any process continues it after a crash. @returns the reason of the decision, for the log */
export async function beginReplay(
  command: Extract<Command, { kind: 'replay_deliveries' }>,
  { replays, requeues, clock }: ReplayOptions,
): Promise<'begun' | 'begun_before'> {
  const window = {
    project_id: command.project_id,
    channel_id: command.channel_id,
    from: new Date(command.from),
    to: new Date(command.to),
    requested_at: new Date(command.requested_at),
  }
  const isNew = await replays.begin({
    _id: command.replay_id,
    ...window,
    state: 'running',
    total: await requeues.countFailed(window),
    requeued: 0,
    cursor: null,
    next_page_at: new Date(clock.now()),
    finished_at: null,
  })
  return isNew ? 'begun' : 'begun_before'
}

/**
 * Works through the running replays page by page, each as fast as its channel accepts the deliveries. Any process may
 * requeue the next page. A page that a crash interrupted is requeued again, which changes nothing for the deliveries
 * already requeued.
 */
export class ReplayWalker {
  readonly #options: ReplayOptions
  #cancel = () => {}
  #atWork: Promise<void> | undefined
  #isStopped = false

  constructor(options: ReplayOptions) {
    this.#options = options
  }

  start(): void {
    this.#scheduleWalk(IDLE_MS)
  }

  /** Looks for work at once, because a replay has begun. */
  wake(): void {
    if (!this.#isStopped && this.#atWork === undefined) this.#scheduleWalk(0)
  }

  /** Waits for the current page. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancel()
    await this.#atWork
  }

  #scheduleWalk(delayMs: number): void {
    this.#cancel()
    this.#cancel = this.#options.clock.schedule(delayMs, () => {
      this.#atWork = this.#walk()
        .catch(error => {
          const canRetry = isRetryable(error)
          this.#options.logger[canRetry ? 'warn' : 'error']({ error }, 'replay.deferred')
          return false
        })
        .then(isReplaying => {
          this.#atWork = undefined
          if (!this.#isStopped) this.#scheduleWalk(isReplaying ? BETWEEN_PAGES_MS : IDLE_MS)
        })
    })
  }

  /** @returns true if there was a page to requeue */
  async #walk(): Promise<boolean> {
    const { clock, replays } = this.#options
    for (let isReplaying = false; ; isReplaying = true) {
      const nowMs = clock.now()
      const replay = this.#isStopped ? undefined : await replays.claim(nowMs, nowMs + PAGE_TAKES_AT_MOST_MS)
      if (replay === undefined) return isReplaying
      await sendPage(replay, this.#options)
    }
  }
}

async function sendPage(replay: ReplayDocument, options: ReplayOptions): Promise<void> {
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
  const sent = await requeue(
    { requestId, projectId, overdueBefore: overdueBefore(replay.requested_at), atOnce: false },
    page,
    options,
  )
  await replays.advance(replay, {
    ...next(),
    cursor: { created_at: last.created_at, delivery_id: last._id },
    requeued: requeued + sent,
  })
}
