import type { Answer, MessageAnswer } from '@backstop/channels'
import { classifyAnswer, type Outcome } from '@backstop/channels'
import type { ChannelKind, DeliveryAttempt, EndedAddress } from '@backstop/contracts'
import type { HealthReport } from '../../health/rules/channel-health.ts'
import type { PaceSignal } from '../../queue/rules/breaker.ts'
import { decideNextAttempt, type NextAttempt } from '../../retry/rules/next-attempt.ts'

/** How a delivery stands after something happened to it; written only if its next attempt is still this one (R4.4). */
export interface AttemptOutcome {
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
  readonly health: HealthReport | null
  /** What it showed of the receiver's pace; null when it showed nothing. */
  readonly sign: PaceSignal | null
  /** The digest that told it; absent where it went alone. */
  readonly coveredBy?: string
  /** Set where it is told in no digest any more, because one was refused for what was in it. */
  readonly goesAlone?: true
  /** The addresses of a mail channel that this attempt ended the delivery for; absent where there were none. */
  readonly endedAddresses?: readonly EndedAddress[]
  readonly atMs: number
}

export interface AttemptFacts {
  readonly deliveryId: string
  readonly channelKind: ChannelKind
  readonly attempt: number
  readonly test: boolean
  /** When the ladder's first attempt began; null when this is it. */
  readonly firstAttemptAtMs: number | null
  /** The number of that attempt. */
  readonly ladderFromAttempt: number
  /** The digest that tells this delivery together with others. */
  readonly digestId?: string
  readonly startedAtMs: number
  readonly endedAtMs: number
  readonly answer: Answer
}

/** What one attempt's answer makes of its delivery and of its channel. */
export function outcomeOfAttempt(facts: AttemptFacts): AttemptOutcome {
  const { answer, attempt, deliveryId, test, endedAtMs } = facts
  const outcome = outcomeOf(facts)
  const said = answer.kind === 'mails' ? answer.decisive : answer
  const ended = answer.kind === 'mails' ? answer.ended.map(one => ({ ...one, attempt })) : []
  const hasWorked = outcome.kind === 'delivered' || ended.some(one => one.end === 'taken')
  const record: DeliveryAttempt = {
    attempt,
    at: new Date(facts.startedAtMs),
    duration_ms: Math.max(0, Math.round(endedAtMs - facts.startedAtMs)),
    outcome: outcome.kind === 'delivered' ? 'delivered' : 'failed',
    status: said.kind === 'http' ? said.status : said.kind === 'smtp' ? said.code : null,
    error: outcome.error,
    response: responseOf(said),
  }
  const health = test ? null : newsOf(outcome, hasWorked, endedAtMs)
  const sign = test ? null : signOf(outcome, hasWorked, said, endedAtMs)
  const endedAddresses = ended.length === 0 ? {} : { endedAddresses: ended }
  const common = { deliveryId, attempt, record, health, sign, ...endedAddresses, atMs: endedAtMs }
  switch (outcome.kind) {
    case 'delivered':
      return {
        ...common,
        state: 'delivered',
        reason: facts.digestId === undefined ? 'Delivered' : 'Delivered as one of several in a digest',
        reasonCode: outcome.reason,
        next: null,
        ...(facts.digestId === undefined ? {} : { coveredBy: facts.digestId }),
      }
    case 'dead_letter':
    case 'disable':
      return { ...common, state: 'dead', reason: outcome.error, reasonCode: outcome.reason, next: null }
    case 'retry': {
      const firstAttemptAtMs = facts.firstAttemptAtMs ?? facts.startedAtMs
      const { retryAfterMs } = outcome
      const { ladderFromAttempt } = facts
      const next = decideNextAttempt({
        attempt,
        ladderFromAttempt,
        firstAttemptAtMs,
        nowMs: endedAtMs,
        test,
        retryAfterMs,
      })
      if (next.kind === 'no_retry') {
        return {
          ...common,
          state: 'dead',
          reason: deadReason(next.reason, outcome.error),
          reasonCode: outcome.reason,
          next: null,
        }
      }
      const goesAlone = outcome.fault === 'one_of_several' ? { goesAlone: true as const } : {}
      return { ...common, state: 'retrying', reason: outcome.error, reasonCode: outcome.reason, next, ...goesAlone }
    }
    default:
      return outcome satisfies never
  }
}

/** A digest that is refused for its content is retried as single messages, because the answer does not name the alert at fault. */
function outcomeOf({ channelKind, answer, endedAtMs, digestId }: AttemptFacts): Outcome {
  const outcome = classifyAnswer(channelKind, answer, endedAtMs)
  if (outcome.kind !== 'dead_letter' || digestId === undefined) return outcome
  return { kind: 'retry', reason: outcome.reason, error: outcome.error, retryAfterMs: null, fault: 'one_of_several' }
}

/** The end of a delivery that may not be attempted, because its channel is gone or disabled, or its message is of no use. */
export function outcomeWithoutAttempt(
  delivery: { deliveryId: string; attempt: number },
  end: { readonly reason: string; readonly text: string },
  nowMs: number,
): AttemptOutcome {
  return {
    ...delivery,
    record: null,
    state: 'dead',
    reason: end.text,
    reasonCode: end.reason,
    next: null,
    health: null,
    sign: null,
    atMs: nowMs,
  }
}

/** @param hasWorked whether anything arrived, be it for some addresses only */
function newsOf(outcome: Outcome, hasWorked: boolean, atMs: number): HealthReport | null {
  if (hasWorked) return { kind: 'worked', atMs, error: outcome.error }
  switch (outcome.kind) {
    case 'retry':
      if (outcome.fault === 'one_of_several') return null
      return { kind: outcome.fault === 'receiver' ? 'failed' : 'held_up', atMs, error: outcome.error }
    case 'disable':
      return { kind: 'disable', atMs, error: outcome.error, reasonCode: outcome.reason }
    // A fault of one message says nothing about the channel.
    case 'dead_letter':
    case 'delivered':
      return null
    default:
      return outcome satisfies never
  }
}

/** Statuses by which a receiver, or what stands in front of it, says that it gets more than it takes (guides: R4.5). */
const THROTTLES: ReadonlySet<number> = new Set([429, 502, 504])

function signOf(outcome: Outcome, hasWorked: boolean, answer: MessageAnswer, atMs: number): PaceSignal | null {
  if (hasWorked) return { kind: 'worked', atMs }
  switch (outcome.kind) {
    case 'retry': {
      const { retryAfterMs, fault } = outcome
      // A mailbox that is full is no reason to leave the others of its channel alone, nor is one odd alert.
      if (fault === 'some_addresses' || fault === 'one_of_several') return null
      const isThrottled = retryAfterMs !== null || (answer.kind === 'http' && THROTTLES.has(answer.status))
      return isThrottled ? { kind: 'throttled', atMs, retryAfterMs } : { kind: 'failed', atMs }
    }
    case 'disable':
      return { kind: 'failed', atMs }
    // A fault of one message says nothing about the next.
    case 'dead_letter':
    case 'delivered':
      return null
    default:
      return outcome satisfies never
  }
}

function deadReason(reason: Extract<NextAttempt, { kind: 'no_retry' }>['reason'], error: string): string {
  return reason === 'test_is_attempted_once' ? error : `Retries ended 72 hours after the first attempt. ${error}`
}

/** What the receiver said, as far as it was read; never anything of a target that was blocked (R1.5). */
function responseOf(answer: MessageAnswer): string | null {
  const text = answer.kind === 'http' ? answer.body : answer.kind === 'smtp' ? answer.text : ''
  return text === '' ? null : text
}
