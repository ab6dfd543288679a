import { RETRY_RUNGS } from '@backstop/contracts'
import type { Clock } from '@backstop/kit'
import { type Breaker, CLOSED_BREAKER, type Gate, gateOf, noteAttempt, type PaceSignal } from './rules/breaker.ts'

/** A pause shorter than this is waited for in memory; a longer one sends the channel's messages to a delay line. */
export const SHORT_PAUSE_MS = 1_000
/** For so long the messages of a channel that are put off are counted: those on the shortest line come back after it. */
const POSTPONED_WINDOW_MS = RETRY_RUNGS[0].delayMs
/** Beyond it, memory is worth more than knowing how channels did last. */
const MAX_KNOWN = 50_000

/** What an attempt showed of a channel's receiver. */
export interface ChannelSignal {
  readonly sign: PaceSignal
  /** The version of the channel by which it was made. */
  readonly channelVersion: number
}

/** What this process remembers of whether a channel's receiver takes messages. All attempts happen here. */
export class ChannelPaces {
  readonly #clock: Clock
  /** Only those that are not simply closed. */
  readonly #breakers = new Map<string, { readonly breaker: Breaker; readonly channelVersion: number }>()
  readonly #postponed = new Map<string, { readonly untilMs: number; count: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Counts a message that is put off. @returns how many of the channel's were just before it */
  countPostponed(channelId: string): number {
    const nowMs = this.#clock.now()
    const known = this.#postponed.get(channelId)
    if (known !== undefined && known.untilMs > nowMs) return known.count++
    if (this.#postponed.size >= MAX_KNOWN) this.#postponed.clear()
    this.#postponed.set(channelId, { untilMs: nowMs + POSTPONED_WINDOW_MS, count: 1 })
    return 0
  }

  gateOf(channelId: string): Gate {
    const known = this.#breakers.get(channelId)
    return known === undefined ? { kind: 'free', reason: 'works' } : gateOf(known.breaker, this.#clock.now())
  }

  /** For how long nothing may be sent to the channel because of how its receiver answered, in milliseconds. */
  heldForMs(channelId: string): number {
    const gate = this.gateOf(channelId)
    return gate.kind === 'held' ? gate.untilMs - this.#clock.now() : 0
  }

  noteEnd(channelId: string, { sign, channelVersion }: ChannelSignal): void {
    const known = this.#breakers.get(channelId)
    if (known !== undefined && known.channelVersion > channelVersion) return
    const before = known?.channelVersion === channelVersion ? known.breaker : CLOSED_BREAKER
    const breaker = noteAttempt(before, sign)
    if (breaker === CLOSED_BREAKER) this.#breakers.delete(channelId)
    else if (known !== undefined || this.#breakers.size < MAX_KNOWN) {
      this.#breakers.set(channelId, { breaker, channelVersion })
    }
  }

  /** The channel as it is now: what another version of it showed may be about another receiver, or is repaired. */
  noteVersion(channelId: string, channelVersion: number): void {
    if (this.#breakers.get(channelId)?.channelVersion !== channelVersion) this.#breakers.delete(channelId)
  }
}
