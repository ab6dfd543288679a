import type { ChannelKind, DeliveryAttempt } from '@backstop/contracts'
import type { Answer } from './answer.ts'
import type { ChannelVerdict } from './channel-state.ts'
import { classifyOutcome, type Outcome } from './classify-outcome.ts'
import { decideNextAttempt, type NextAttempt } from './next-attempt.ts'

/** How a delivery stands after something happened to it; written only if its next attempt is still this one (R4.4). */
export interface Settlement {
  readonly deliveryId: string
  /** The attempt that it settles. */
  readonly attempt: number
  /** The row to add; null when no attempt was made. */
  readonly record: DeliveryAttempt | null
  readonly state: 'delivered' | 'retrying' | 'dead'
  /** For a person: why it ended, or what is next. */
  readonly reason: string
  /** The closed word for log and metric. */
  readonly reasonCode: string
  readonly next: Extract<NextAttempt, { kind: 'retry' }> | null
  /** What this says about the channel; null when it says nothing (tests, deliveries that were not attempted). */
  readonly health: HealthNews | null
  readonly settledAtMs: number
}

export type HealthNews =
  | { kind: 'worked'; atMs: number; error: string | null }
  | { kind: 'failed'; atMs: number; error: string }
  | { kind: 'disable'; atMs: number; error: string; reasonCode: string }

export interface AttemptFacts {
  readonly deliveryId: string
  readonly channelKind: ChannelKind
  readonly attempt: number
  readonly test: boolean
  readonly firstAttemptAtMs: number | null
  readonly startedAtMs: number
  readonly endedAtMs: number
  readonly answer: Answer
}

/** What one attempt's answer makes of its delivery and of its channel. */
export function settleAttempt(facts: AttemptFacts): Settlement {
  const { answer, attempt, deliveryId, test, endedAtMs } = facts
  const outcome = classifyOutcome(facts.channelKind, answer, endedAtMs)
  const record: DeliveryAttempt = {
    attempt,
    at: new Date(facts.startedAtMs),
    duration_ms: Math.max(0, Math.round(endedAtMs - facts.startedAtMs)),
    outcome: outcome.kind === 'delivered' ? 'delivered' : 'failed',
    status: answer.kind === 'http' ? answer.status : answer.kind === 'smtp' ? answer.code : null,
    error: outcome.error,
    response: responseOf(answer),
  }
  const health = test ? null : newsOf(outcome, endedAtMs)
  const common = { deliveryId, attempt, record, health, settledAtMs: endedAtMs }
  switch (outcome.kind) {
    case 'delivered':
      return { ...common, state: 'delivered', reason: 'Delivered', reasonCode: outcome.reason, next: null }
    case 'park':
    case 'disable':
      return { ...common, state: 'dead', reason: outcome.error, reasonCode: outcome.reason, next: null }
    case 'retry': {
      const firstAttemptAtMs = facts.firstAttemptAtMs ?? facts.startedAtMs
      const { retryAfterMs } = outcome
      const next = decideNextAttempt({ attempt, firstAttemptAtMs, nowMs: endedAtMs, test, retryAfterMs })
      if (next.kind === 'give_up') {
        return {
          ...common,
          state: 'dead',
          reason: giveUpText(next.reason, outcome.error),
          reasonCode: outcome.reason,
          next: null,
        }
      }
      return { ...common, state: 'retrying', reason: outcome.error, reasonCode: outcome.reason, next }
    }
  }
}

/** The end of a delivery that may not be attempted, because its channel is gone or disabled. */
export function settleWithoutAttempt(
  delivery: { deliveryId: string; attempt: number },
  verdict: Extract<ChannelVerdict, { kind: 'ends' }>,
  nowMs: number,
): Settlement {
  return {
    ...delivery,
    record: null,
    state: 'dead',
    reason: verdict.text,
    reasonCode: verdict.reason,
    next: null,
    health: null,
    settledAtMs: nowMs,
  }
}

function newsOf(outcome: Outcome, atMs: number): HealthNews | null {
  switch (outcome.kind) {
    case 'delivered':
      return { kind: 'worked', atMs, error: outcome.error }
    case 'retry':
      return { kind: 'failed', atMs, error: outcome.error }
    case 'disable':
      return { kind: 'disable', atMs, error: outcome.error, reasonCode: outcome.reason }
    // What is wrong with one message says nothing about the channel.
    case 'park':
      return null
  }
}

function giveUpText(reason: Extract<NextAttempt, { kind: 'give_up' }>['reason'], error: string): string {
  return reason === 'test_is_attempted_once' ? error : `Given up 72 hours after the first attempt. ${error}`
}

/** What the receiver said, as far as it was read; never anything of a target that was blocked (R1.5). */
function responseOf(answer: Answer): string | null {
  const text = answer.kind === 'http' ? answer.body : answer.kind === 'smtp' ? answer.text : ''
  return text === '' ? null : text
}
