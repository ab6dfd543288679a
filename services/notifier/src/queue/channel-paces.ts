import { RETRY_RUNGS } from '@backstop/contracts'
import type { Clock } from '@backstop/kit/clock'
import {
  type Breaker,
  CLOSED_BREAKER,
  countFirstAttempt,
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
/** A first attempt that was postponed is back from the shortest delay line after this time at most, in milliseconds. */
const HELD_FIRST_BACK_MS = POSTPONED_WINDOW_MS + 1_000
/** Number of remembered channels beyond which the oldest are evicted, to limit memory. */
const MAX_KNOWN = 50_000

/** What an attempt showed about a channel's receiver. */
export interface ChannelSignal {
  readonly paceSignal: PaceSignal
  /** The version of the channel that the attempt used. */
  readonly channelVersion: number
}

/** A pause of a channel that began, or was extended, with an attempt that just ended. */
export interface ChannelPause {
  readonly sinceMs: number
  readonly untilMs: number
  readonly because: Breaker['heldBecause']
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
  /** Until when first attempts of a channel that were postponed may still be on the shortest delay line. */
  readonly #heldFirst = new Map<string, number>()

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
    return gate.kind === 'paused' ? gate.untilMs - this.#clock.now() : 0
  }

  /** Number of first attempts that may still start during the channel's pause; 0 if it is not paused. */
  firstAttemptsLeft(channelId: string): number {
    const gate = this.sendPermissionOf(channelId)
    return gate.kind === 'paused' ? gate.firstAttemptsLeft : 0
  }

  /** Counts a first attempt that starts during the channel's pause. */
  countFirstAttempt(channelId: string): void {
    const known = this.#breakers.get(channelId)
    if (known !== undefined) this.#breakers.set(channelId, { ...known, breaker: countFirstAttempt(known.breaker) })
  }

  /** Remembers that a first attempt of the channel waits on a delay line because of the channel's pause. */
  rememberHeldFirst(channelId: string): void {
    if (this.#heldFirst.size >= MAX_KNOWN) this.#heldFirst.clear()
    this.#heldFirst.set(channelId, this.#clock.now() + HELD_FIRST_BACK_MS)
  }

  /** True if older first attempts of the channel wait on a delay line, so that a new alert must wait behind them. */
  hasHeldFirst(channelId: string): boolean {
    return (this.#heldFirst.get(channelId) ?? 0) > this.#clock.now()
  }

  /** @returns the pause that this attempt began or extended; undefined if there is none that outlasts a short wait */
  recordSignal(channelId: string, { paceSignal, channelVersion }: ChannelSignal): ChannelPause | undefined {
    const known = this.#breakers.get(channelId)
    if (known !== undefined && known.channelVersion > channelVersion) return undefined
    const before = known?.channelVersion === channelVersion ? known.breaker : CLOSED_BREAKER
    const breaker = updateBreaker(before, paceSignal)
    if (breaker === CLOSED_BREAKER) {
      if (known !== undefined) this.#close(channelId)
      return undefined
    }
    if (known === undefined && this.#breakers.size >= MAX_KNOWN) return undefined
    this.#breakers.set(channelId, { breaker, channelVersion })
    const { heldUntilMs: untilMs, heldBecause: because } = breaker
    const isNew = untilMs > before.heldUntilMs && untilMs - paceSignal.atMs > SHORT_PAUSE_MS
    return isNew ? { sinceMs: paceSignal.atMs, untilMs, because } : undefined
  }

  /**
   * Resets the breaker of a changed channel, because the change may have repaired the channel or replaced its receiver.
   * @returns true if the breaker was reset
   */
  resetIfChanged(channelId: string, channelVersion: number): boolean {
    const known = this.#breakers.get(channelId)
    if (known === undefined || known.channelVersion === channelVersion) return false
    this.#close(channelId)
    return true
  }

  #close(channelId: string): void {
    this.#breakers.delete(channelId)
    this.#heldFirst.delete(channelId)
  }
}
