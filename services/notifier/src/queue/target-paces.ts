import type { Clock } from '@backstop/kit'

/**
 * Keeps apart the attempts at receivers that take only so many a second, whichever channels they are of: several may post
 * to one place. What waits for such a place has its turn in the order in which it asked.
 *
 * Another process that delivers to a channel with the same place knows nothing of it: together they may be too quick, which
 * the receiver's 429 mends. Deliveries by place instead of by channel would prevent it.
 */
export class TargetPaces {
  readonly #clock: Clock
  readonly #onTurn: (channelId: string) => void
  /** When the next attempt may start, and which channels wait for that; by target. */
  readonly #targets = new Map<string, { nextStartMs: number; readonly waiting: Set<string>; isWatched: boolean }>()
  /** How many channels have work for a target. */
  readonly #sharers = new Map<string, number>()

  /** @param onTurn called for a channel that was told to wait, once it need not */
  constructor(clock: Clock, onTurn: (channelId: string) => void) {
    this.#clock = clock
    this.#onTurn = onTurn
  }

  /** One more channel has work for the target, until it leaves. */
  join(target: string | undefined): void {
    if (target !== undefined) this.#sharers.set(target, this.sharersOf(target) + 1)
  }

  /** A channel that joined has no more work for the target. */
  leave(target: string | undefined): void {
    if (target === undefined) return
    const rest = this.sharersOf(target) - 1
    if (rest > 0) this.#sharers.set(target, rest)
    else this.#sharers.delete(target)
  }

  /** How many channels have work for the target. */
  sharersOf(target: string | undefined): number {
    return target === undefined ? 0 : (this.#sharers.get(target) ?? 0)
  }

  /** Whether an attempt may start now; if not, the channel is called when it may. @param target undefined: it always may */
  mayStart(target: string | undefined, channelId: string): boolean {
    const known = target === undefined ? undefined : this.#targets.get(target)
    if (target === undefined || known === undefined || known.nextStartMs <= this.#clock.now()) return true
    known.waiting.add(channelId)
    this.#watch(target)
    return false
  }

  /** No attempt at the target starts for so long from now. */
  keepApart(target: string | undefined, intervalMs: number): void {
    if (target === undefined) return
    const nextStartMs = this.#clock.now() + intervalMs
    const known = this.#targets.get(target)
    if (known === undefined) this.#targets.set(target, { nextStartMs, waiting: new Set(), isWatched: false })
    else known.nextStartMs = nextStartMs
    this.#watch(target)
  }

  /** Calls one channel when the pause is over: its attempt makes the next one wait again. Forgets a target nobody waits for. */
  #watch(target: string): void {
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
      this.#watch(target)
    })
  }
}
