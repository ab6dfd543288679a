import { RETRY_RUNGS } from '@backstop/contracts'
import type { Clock } from '@backstop/kit'
import {
  type Breaker,
  CLOSED_BREAKER,
  type PaceSignal,
  type SendPermission,
  sendPermissionOf,
  updateBreaker,
} from './rules/breaker.ts'

/**
 * Longest pause that is waited for in memory, in milliseconds. During a longer pause the channel's jobs wait on a delay
 * line.
 */
export const SHORT_PAUSE_MS = 1_000
/** Window in which postponed messages of a channel are counted: the duration of the shortest delay line. */
const POSTPONED_WINDOW_MS = RETRY_RUNGS[0].delayMs
/** Number of remembered channels beyond which the oldest are evicted, to limit memory. */
const MAX_KNOWN = 50_000

/** What an attempt showed about a channel's receiver. */
export interface ChannelSignal {
  readonly paceSignal: PaceSignal
  /** The version of the channel that the attempt used. */
  readonly channelVersion: number
}

/**
 * The state of each channel's receiver as this process saw it. Each process remembers its own channels only, because
 * all attempts of a channel run in one process.
 */
export class ChannelPaces {
  readonly #clock: Clock
  /** Breakers that have recorded a failure or a throttling; every other breaker is closed. */
  readonly #breakers = new Map<string, { readonly breaker: Breaker; readonly channelVersion: number }>()
  readonly #postponed = new Map<string, { readonly untilMs: number; count: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Counts a postponed message. @returns the number of the channel's messages postponed before it */
  countPostponed(channelId: string): number {
    const nowMs = this.#clock.now()
    const known = this.#postponed.get(channelId)
    if (known !== undefined && known.untilMs > nowMs) return known.count++
    if (this.#postponed.size >= MAX_KNOWN) this.#postponed.clear()
    this.#postponed.set(channelId, { untilMs: nowMs + POSTPONED_WINDOW_MS, count: 1 })
    return 0
  }

  sendPermissionOf(channelId: string): SendPermission {
    const known = this.#breakers.get(channelId)
    return known === undefined ? { kind: 'free', reason: 'works' } : sendPermissionOf(known.breaker, this.#clock.now())
  }

  /** Remaining pause of the channel because of its receiver's answers, in milliseconds. */
  heldForMs(channelId: string): number {
    const gate = this.sendPermissionOf(channelId)
    return gate.kind === 'held' ? gate.untilMs - this.#clock.now() : 0
  }

  recordSignal(channelId: string, { paceSignal, channelVersion }: ChannelSignal): void {
    const known = this.#breakers.get(channelId)
    if (known !== undefined && known.channelVersion > channelVersion) return
    const before = known?.channelVersion === channelVersion ? known.breaker : CLOSED_BREAKER
    const breaker = updateBreaker(before, paceSignal)
    if (breaker === CLOSED_BREAKER) this.#breakers.delete(channelId)
    else if (known !== undefined || this.#breakers.size < MAX_KNOWN) {
      this.#breakers.set(channelId, { breaker, channelVersion })
    }
  }

  /**
   * Resets the breaker of a changed channel, because the change may have repaired the channel or replaced its receiver.
   */
  resetIfChanged(channelId: string, channelVersion: number): void {
    if (this.#breakers.get(channelId)?.channelVersion !== channelVersion) this.#breakers.delete(channelId)
  }
}
