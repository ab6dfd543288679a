import type { Clock } from '@backstop/kit/clock'
import type { ReadLimits } from '../read-back.ts'

/** The decision about one request. An admitted request must call `leave` when it ends. */
export type ReadAdmission =
  | { readonly kind: 'admitted'; leave(): void }
  /** The rate limit would admit the request after its deadline. */
  | { readonly kind: 'too_late'; readonly waitMs: number }
  /** The caller aborted the request before it was admitted. */
  | { readonly kind: 'aborted' }

interface Waiting {
  readonly endsAt: number
  settle(admission: ReadAdmission): void
}

/**
 * Keeps requests within a provider's rate limit: a token bucket, a limit on requests in flight, and a pause for all requests
 * when the provider asks for one. Requests are admitted in their order.
 */
export class Pace {
  readonly #clock: Clock
  readonly #concurrent: number
  readonly #capacity: number
  readonly #tokensPerMs: number
  readonly #queue: Waiting[] = []
  #tokens: number
  #filledAt: number
  #pausedUntil = 0
  #inFlight = 0
  #cancelTimer: (() => void) | undefined

  constructor(limits: ReadLimits, clock: Clock) {
    this.#clock = clock
    this.#concurrent = limits.concurrent
    // The bucket is small, so that the requests of any minute exceed the rate by little. The margin of the limit covers the
    // excess.
    this.#capacity = 2 * limits.concurrent
    this.#tokensPerMs = limits.requestsPerMinute / 60_000
    this.#tokens = this.#capacity
    this.#filledAt = clock.now()
  }

  /**
   * Waits until the request is admitted or cannot be in time.
   * @param endsAt milliseconds since the epoch
   */
  enter(endsAt: number, signal: AbortSignal | undefined): Promise<ReadAdmission> {
    return new Promise(resolve => {
      if (signal?.aborted) return resolve({ kind: 'aborted' })
      const refuse = (admission: ReadAdmission) => {
        const at = this.#queue.indexOf(waiting)
        if (at >= 0) this.#queue.splice(at, 1)
        waiting.settle(admission)
      }
      const onAbort = () => refuse({ kind: 'aborted' })
      const cancel = this.#clock.schedule(endsAt - this.#clock.now(), () =>
        refuse({ kind: 'too_late', waitMs: this.waitMs() }),
      )
      const waiting: Waiting = {
        endsAt,
        settle(admission) {
          cancel()
          signal?.removeEventListener('abort', onAbort)
          resolve(admission)
        },
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      this.#queue.push(waiting)
      this.#admit()
    })
  }

  /** Admits no request for `ms` milliseconds, because the provider asked for a pause. */
  pauseFor(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#clock.now() + ms)
  }

  /** The rest of the current pause in milliseconds; 0 if there is none. */
  pausedForMs(): number {
    return Math.max(0, this.#pausedUntil - this.#clock.now())
  }

  #admit(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    for (const waiting of this.#queue.filter(({ endsAt }) => endsAt <= this.#pausedUntil)) {
      this.#queue.splice(this.#queue.indexOf(waiting), 1)
      waiting.settle({ kind: 'too_late', waitMs: this.waitMs() })
    }
    while (this.#queue.length > 0 && this.#inFlight < this.#concurrent) {
      const waitMs = this.waitMs()
      if (waitMs > 0) {
        this.#cancelTimer = this.#clock.schedule(waitMs, () => this.#admit())
        return
      }
      this.#tokens -= 1
      this.#inFlight += 1
      this.#queue.shift()?.settle({
        kind: 'admitted',
        leave: () => {
          this.#inFlight -= 1
          this.#admit()
        },
      })
    }
  }

  /** Milliseconds until the rate and the pause allow the next request. */
  waitMs(): number {
    const now = this.#clock.now()
    this.#tokens = Math.min(this.#capacity, this.#tokens + Math.max(0, now - this.#filledAt) * this.#tokensPerMs)
    this.#filledAt = now
    const untilToken = this.#tokens >= 1 ? 0 : Math.ceil((1 - this.#tokens) / this.#tokensPerMs)
    return Math.max(untilToken, this.#pausedUntil - now, 0)
  }
}
