import { type Clock, sleep } from '@backstop/kit/clock'
import { AppError } from '@backstop/kit/errors'
import type { Logger } from '@backstop/kit/logger'
import { type ChangeCursor, type ChangeFeed, PositionLost, type StoredChange } from '../../store/change-feed.ts'
import type { LiveEvent } from './live-events.ts'

/** What a listener gets. */
export type LiveNews =
  /** `position` is that of the last change, which may have led to no event. */
  | { readonly kind: 'events'; readonly events: readonly LiveEvent[]; readonly position: string }
  /** Changes before this position may be missing: the client must load everything again. */
  | { readonly kind: 'reset'; readonly position: string }

export type LiveListener = (news: LiveNews) => void

export interface LiveHubOptions {
  readonly feed: ChangeFeed
  readonly readEvents: (changes: readonly StoredChange[], now: Date) => Promise<LiveEvent[]>
  readonly clock: Clock
  readonly logger: Logger
  /** Aborted when the process stops. */
  readonly stopping: AbortSignal
}

const RETRY_MS = 1_000
/** How long a client waits for the stream of the database to open, in milliseconds. */
const OPEN_WITHIN_MS = 5_000

/**
 * Reads the changes of the database once for all clients of this process. It reads only while there are listeners. While the database is
 * unavailable, it tries again and continues where it was.
 */
export class LiveHub {
  readonly #options: LiveHubOptions
  readonly #listeners = new Set<LiveListener>()
  #position: string | undefined
  #isReading = false

  constructor(options: LiveHubOptions) {
    this.#options = options
  }

  /** Every change up to this position was reported. Undefined while the stream of the database is not open yet. */
  get position(): string | undefined {
    return this.#position
  }

  /**
   * Adds a listener. It gets all changes after the returned position.
   * @throws AppError `unavailable` if the stream of the database cannot be opened
   */
  async join(listener: LiveListener, signal: AbortSignal): Promise<{ position: string; leave: () => void }> {
    this.#listeners.add(listener)
    const leave = () => void this.#listeners.delete(listener)
    if (!this.#isReading) void this.#read()
    const position = await this.waitFor(position => position !== undefined, OPEN_WITHIN_MS, signal)
    if (position !== undefined) return { position, leave }
    leave()
    throw new AppError('unavailable', 'The changes of the database cannot be read', { retryable: true })
  }

  /** Waits until the position meets a condition. @returns undefined if it does not in time */
  async waitFor(
    isReached: (position: string | undefined) => boolean,
    withinMs: number,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { clock } = this.#options
    const deadline = clock.now() + withinMs
    while (!isReached(this.#position)) {
      if (signal.aborted || clock.now() >= deadline) return undefined
      await sleep(clock, 20, signal)
    }
    return this.#position
  }

  async #read(): Promise<void> {
    const { feed, clock, logger, stopping } = this.#options
    this.#isReading = true
    let isLost = false
    while (this.#isNeeded()) {
      let cursor: ChangeCursor | undefined
      try {
        cursor = await feed.open(this.#position)
        this.#position = cursor.position
        if (isLost) this.#announce({ kind: 'reset', position: cursor.position })
        isLost = false
        await this.#follow(cursor)
      } catch (error) {
        logger.warn({ error }, 'live.interrupted')
        if (error instanceof PositionLost) {
          isLost = true
          this.#position = undefined
        } else await sleep(clock, RETRY_MS, stopping)
      } finally {
        await cursor?.close()
      }
    }
    this.#position = undefined
    this.#isReading = false
    // A listener that joined while the stream was closed.
    if (this.#isNeeded()) void this.#read()
  }

  async #follow(cursor: ChangeCursor): Promise<void> {
    const { readEvents, clock } = this.#options
    while (this.#isNeeded()) {
      const changes = await cursor.next()
      const { position } = cursor
      const events = changes.length === 0 ? [] : await readEvents(changes, new Date(clock.now()))
      this.#position = position
      if (changes.length > 0) this.#announce({ kind: 'events', events, position })
    }
  }

  #announce(news: LiveNews): void {
    for (const listener of [...this.#listeners]) listener(news)
  }

  #isNeeded(): boolean {
    return this.#listeners.size > 0 && !this.#options.stopping.aborted
  }
}
