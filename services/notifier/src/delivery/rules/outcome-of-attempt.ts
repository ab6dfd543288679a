import type { AttemptAnswer, MessageAnswer } from '@backstop/channels'
import { type AnswerOutcome, classifyAnswer } from '@backstop/channels'
import type { ChannelKind, DeliveryAttempt, EndedAddress } from '@backstop/contracts'
import type { RecordedOutcome } from '../../delivery-record/delivery-store.ts'
import type { HealthReport } from '../../health/rules/channel-health.ts'
import type { PaceSignal } from '../../queue/rules/breaker.ts'
import { decideNextAttempt, type NextAttempt } from '../../retry/rules/next-attempt.ts'

/** What an attempt means for the delivery, for the channel's health and for the receiver's pace. */
export interface AttemptOutcome extends RecordedOutcome {
  readonly next: Extract<NextAttempt, { kind: 'retry' }> | null
  /** The reason as one of a fixed set of codes, for logs and metrics. */
  readonly reasonCode: string
  /**
   * What the outcome says about the channel's health; null if it says nothing (tests, deliveries that were not
   * attempted).
   */
  readonly health: HealthReport | null
  /** What the outcome says about the receiver's pace; null if it says nothing. */
  readonly paceSignal: PaceSignal | null
}

export interface AttemptFacts {
  readonly deliveryId: string
  readonly channelKind: ChannelKind
  readonly attempt: number
  readonly test: boolean
  /** When the first attempt of the ladder began; null if this attempt is the first. */
  readonly firstAttemptAtMs: number | null
  /** When the attempts before it on its ladder began, in their order. */
  readonly ladderAttemptsAtMs: readonly number[]
  /** The id of the digest that contained the alert; absent if the alert was sent alone. */
  readonly digestId?: string
  readonly startedAtMs: number
  readonly endedAtMs: number
  readonly answer: AttemptAnswer
}

/** Derives the new state of the delivery, and the signals about its channel, from the answer to one attempt. */
export function outcomeOfAttempt(facts: AttemptFacts): AttemptOutcome {
  const { answer, attempt, deliveryId, test, endedAtMs } = facts
  const outcome = outcomeOf(facts)
  const said = answer.kind === 'mails' ? answer.decisive : answer
  const ended = endedAddressesOf(answer, outcome).map(one => ({ ...one, attempt }))
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
  const health = test ? null : healthReportOf(outcome, hasWorked, endedAtMs)
  const paceSignal = test ? null : paceSignalOf(outcome, hasWorked, said, facts)
  const endedAddresses = ended.length === 0 ? {} : { endedAddresses: ended }
  const common = { deliveryId, attempt, record, health, paceSignal, ...endedAddresses, atMs: endedAtMs }
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
      const next = decideNextAttempt({
        attempt,
        firstAttemptAtMs,
        ladderAttemptsAtMs: [...facts.ladderAttemptsAtMs, facts.startedAtMs],
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
      return {
        ...common,
        state: 'retrying',
        reason: outcome.error,
        reasonCode: outcome.reason,
        next,
        ...(outcome.fault === 'one_of_several' ? { goesAlone: true as const } : {}),
        ...(facts.digestId === undefined ? {} : { digestGroup: facts.digestId }),
      }
    }
    default:
      return outcome satisfies never
  }
}

/**
 * A digest that is refused for its content is retried as single messages, because the answer does not name the alert at
 * fault.
 */
function outcomeOf({ channelKind, answer, endedAtMs, digestId }: AttemptFacts): AnswerOutcome {
  const outcome = classifyAnswer(channelKind, answer, endedAtMs)
  if (outcome.kind !== 'dead_letter' || digestId === undefined || outcome.reason === 'everybody_suppressed')
    return outcome
  return { kind: 'retry', reason: outcome.reason, error: outcome.error, retryAfterMs: null, fault: 'one_of_several' }
}

/** An address that refused the content of a digest may accept each alert alone, so it has not ended. */
function endedAddressesOf(answer: AttemptAnswer, outcome: AnswerOutcome): readonly Pick<EndedAddress, 'tag' | 'end'>[] {
  if (answer.kind !== 'mails') return []
  const isOneOfSeveral = outcome.kind === 'retry' && outcome.fault === 'one_of_several'
  return isOneOfSeveral ? answer.ended.filter(({ end }) => end === 'taken') : answer.ended
}

/** The end of a delivery without an attempt: its channel is deleted or disabled, or its message is unusable. */
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
    paceSignal: null,
    atMs: nowMs,
  }
}

/** @param hasWorked true if the message arrived, even if only for some addresses */
function healthReportOf(outcome: AnswerOutcome, hasWorked: boolean, atMs: number): HealthReport | null {
  if (hasWorked) return { kind: 'worked', atMs, error: outcome.error }
  switch (outcome.kind) {
    case 'retry':
      if (outcome.fault === 'one_of_several') return null
      return { kind: outcome.fault === 'receiver' ? 'failed' : 'held_up', atMs, error: outcome.error }
    case 'disable':
      return { kind: 'disable', atMs, error: outcome.error, reasonCode: outcome.reason }
    // A fault of one message does not disable the channel, but a channel that refuses every message delivers nothing.
    case 'dead_letter':
      return { kind: 'held_up', atMs, error: outcome.error }
    case 'delivered':
      return null
    default:
      return outcome satisfies never
  }
}

/** Statuses with which a receiver or its proxy reports overload. */
const THROTTLES: ReadonlySet<number> = new Set([429, 502, 504])

function paceSignalOf(
  outcome: AnswerOutcome,
  hasWorked: boolean,
  answer: MessageAnswer,
  { startedAtMs, endedAtMs: atMs }: Pick<AttemptFacts, 'startedAtMs' | 'endedAtMs'>,
): PaceSignal | null {
  if (hasWorked) return { kind: 'worked', atMs }
  switch (outcome.kind) {
    case 'retry': {
      const { retryAfterMs, fault } = outcome
      // One full mailbox or one unacceptable alert is no reason to pause the whole channel.
      if (fault === 'some_addresses' || fault === 'one_of_several') return null
      const isThrottled = retryAfterMs !== null || (answer.kind === 'http' && THROTTLES.has(answer.status))
      return isThrottled
        ? { kind: 'throttled', atMs, retryAfterMs }
        : { kind: 'failed', atMs, tookMs: atMs - startedAtMs }
    }
    case 'disable':
      return { kind: 'failed', atMs, tookMs: atMs - startedAtMs }
    // A fault of one message says nothing about the next message.
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

/**
 * The part of the receiver's answer that was read. Null for a blocked target, so that the record reveals nothing about
 * internal networks.
 */
function responseOf(answer: MessageAnswer): string | null {
  const text = answer.kind === 'http' ? answer.body : answer.kind === 'smtp' ? answer.text : ''
  return text === '' ? null : text
}
