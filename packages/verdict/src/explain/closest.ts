import { type CandidateFailure, formatMoney, type Operation, type Why } from '@backstop/contracts'
import type { ActionRecord } from '../case/action-record.ts'
import { contradictionsOf, requestedBetween, type TimedOperation } from './operation-match.ts'

type Closest = NonNullable<Why['closest']>

/** An operation that does not explain the action, and why if it contradicts the action in no fact. */
export interface Candidate {
  readonly timed: TimedOperation
  readonly failure: CandidateFailure
}

/**
 * Chooses the operation that contradicts the action in the fewest facts, and states these facts in one sentence. It
 * helps a person to see a wrong amount, or a refund that was made twice.
 * @param candidates nearest in time first; of equally close ones, the first is chosen
 * @returns undefined if there are no candidates
 */
export function closestOperation(action: ActionRecord, candidates: readonly Candidate[]): Closest | undefined {
  let closest: { readonly candidate: Candidate; readonly contradictions: readonly CandidateFailure[] } | undefined
  for (const candidate of candidates) {
    const { operation } = candidate.timed
    const contradictions = contradictionsOf(action, operation, candidate.timed)
    if (closest === undefined || contradictions.length < closest.contradictions.length) {
      closest = { candidate, contradictions }
    }
  }
  if (closest === undefined) return undefined
  const { timed, failure } = closest.candidate
  const failures = closest.contradictions.length > 0 ? closest.contradictions : [failure]
  const { amount, currency } = timed.operation
  const reported = { amount, currency, at: new Date(timed.at).toISOString() }
  return { operation_id: timed.name, failure, text: sentenceOf(action, timed, failures), reported }
}

const PLACES = {
  processor: 'the card processor',
  reseller: 'the reseller',
  subscription: 'the subscription biller',
} as const satisfies Record<ActionRecord['provider'], string>

function sentenceOf(action: ActionRecord, timed: TimedOperation, failures: readonly CandidateFailure[]): string {
  const differences = failures.flatMap(failure => DIFFERENCES[failure](action, timed) ?? [])
  const reported = reportedText(action, timed, new Set(failures))
  return differences.length === 0 ? reported : `${reported}; this one ${joinTexts(differences)}`
}

/** What the software reported, e.g. "Your software reported a refund of EUR 24.99 on the same payment at 10:02 UTC". */
function reportedText(
  action: ActionRecord,
  { operation, at }: TimedOperation,
  failures: ReadonlySet<CandidateFailure>,
) {
  const { kind, subject, provider, provider_ref, state } = operation
  const money = formatMoney(operation.amount, operation.currency ?? action.currency)
  const about = kind === 'refund' ? 'payment' : 'subscription'
  const parts = [
    `Your software reported a ${kind}`,
    money === null ? '' : `of ${money}`,
    failures.has('other_provider_ref') ? `(${provider_ref})` : '',
    isElsewhere(action, operation) && failures.has('other_kind') ? `at ${PLACES[provider]}` : '',
    failures.has('other_subject') ? `on another ${about} (${subject})` : `on the same ${about}`,
    timeText(at, requestedBetween(action).to),
    failures.has('operation_skipped_approval') ? 'without the approval that it needs' : '',
    failures.has('operation_did_not_act') ? `as ${state.replaceAll('_', ' ')}, and not as sent to the provider` : '',
  ]
  return parts.filter(part => part !== '').join(' ')
}

/** True if both are of the same kind, so that only the provider can differ. */
function isElsewhere(action: ActionRecord, { kind }: Operation): boolean {
  return kind === action.kind
}

type DifferenceText = (action: ActionRecord, timed: TimedOperation) => string | undefined

/** How the action differs, as the end of a sentence. Undefined if the text about the operation states the difference. */
const DIFFERENCES: Record<CandidateFailure, DifferenceText> = {
  operation_did_not_act: () => undefined,
  operation_skipped_approval: () => undefined,
  other_kind: (action, { operation }) =>
    isElsewhere(action, operation) ? `is at ${PLACES[action.provider]}` : `is a ${action.kind}`,
  other_provider_ref: ({ providerRef }) => `is ${providerRef}`,
  other_subject: ({ subject }) => `is on ${subject}`,
  other_amount: ({ amount, currency, kind }, { operation }) => {
    if (kind !== operation.kind) return undefined
    const money = formatMoney(amount, currency)
    return money === null ? 'has no known amount' : `is ${money}`
  },
  outside_time_window: (action, { at }) => {
    const { to } = requestedBetween(action)
    return `was ${action.kind === 'cancellation' ? 'requested' : 'made'} ${timeText(to, at)}`
  },
  explains_another: ({ kind }) => `was made in addition to the ${kind} that already matches it`,
  other_operation_fits_better: () => 'fits another operation better',
  awaits_its_own: ({ kind }, { until, at }) =>
    `is compared again ${timeText(until, at)}, because the ${kind} of your software may still arrive`,
}

/** The time of day, with the date if it is not the date of the other time. */
function timeText(at: number, other: number): string {
  const [date, time] = new Date(at).toISOString().split('T') as [string, string]
  const isSameDay = date === new Date(other).toISOString().slice(0, 10)
  const clock = `at ${time.slice(0, 5)} UTC`
  return isSameDay ? clock : `on ${date} ${clock}`
}

function joinTexts(texts: readonly string[]): string {
  return texts.length === 1 ? texts.join() : `${texts.slice(0, -1).join(', ')} and ${texts.at(-1)}`
}
