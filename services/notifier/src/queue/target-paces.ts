import type { Clock } from '@backstop/kit/clock'

/**
 * Keeps the minimum interval between attempts at one target, across all channels with that target. Channels that wait
 * for a target take turns in the order in which they asked.
 * Each process keeps its own intervals: two processes with channels of one target may together be too fast. The
 * receiver's 429 then slows them down. Partitioning deliveries by target would prevent it.
 */
export class TargetPaces {
  readonly #clock: Clock
  readonly #onTurn: (channelId: string) => void
  /** The time of the next allowed start and the waiting channels, by target. */
  readonly #targets = new Map<string, { nextStartMs: number; readonly waiting: Set<string>; isWatched: boolean }>()
  /** Number of channels with jobs, by target. */
  readonly #sharers = new Map<string, number>()

  /** @param onTurn called when a waiting channel may start an attempt */
  constructor(clock: Clock, onTurn: (channelId: string) => void) {
    this.#clock = clock
    this.#onTurn = onTurn
  }

  /** Counts one more channel with jobs for the target, until `removeSharer` is called. */
  addSharer(target: string | undefined): void {
    if (target !== undefined) this.#sharers.set(target, this.countSharers(target) + 1)
  }

  /** Counts one channel with jobs for the target less. */
  removeSharer(target: string | undefined): void {
    if (target === undefined) return
    const rest = this.countSharers(target) - 1
    if (rest > 0) this.#sharers.set(target, rest)
    else this.#sharers.delete(target)
  }

  /** Number of channels with jobs for the target. */
  countSharers(target: string | undefined): number {
    return target === undefined ? 0 : (this.#sharers.get(target) ?? 0)
  }

  /**
   * True if an attempt may start now. If false, `onTurn` is called for the channel later. @param target undefined if
   * the kind has no pace limit: always true
   */
  mayStart(target: string | undefined, channelId: string): boolean {
    const known = target === undefined ? undefined : this.#targets.get(target)
    if (target === undefined || known === undefined || known.nextStartMs <= this.#clock.now()) return true
    known.waiting.add(channelId)
    this.#scheduleNextTurn(target)
    return false
  }

  /** Delays the next attempt at the target until at least this interval from now. */
  delayNextStart(target: string | undefined, intervalMs: number): void {
    if (target === undefined) return
    const nextStartMs = this.#clock.now() + intervalMs
    const known = this.#targets.get(target)
    if (known === undefined) this.#targets.set(target, { nextStartMs, waiting: new Set(), isWatched: false })
    else known.nextStartMs = nextStartMs
    this.#scheduleNextTurn(target)
  }

  /** Calls the next waiting channel when the interval is over. Removes a target that no channel waits for. */
  #scheduleNextTurn(target: string): void {
    const known = this.#targets.get(target)
    if (known === undefined || known.isWatched) return
    known.isWatched = true
    this.#clock.schedule(Math.max(0, known.nextStartMs - this.#clock.now()), () => {
      known.isWatched = false
      if (known.nextStartMs <= this.#clock.now()) {
        const [channelId] = known.waiting
        if (channelId === undefined) {
          this.#targets.delete(target)
          return
        }
        known.waiting.delete(channelId)
        this.#onTurn(channelId)
      }
      this.#scheduleNextTurn(target)
    })
  }
}
