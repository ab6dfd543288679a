import {
  type CandidateFailure,
  formatMoney,
  isoTime,
  type Operation,
  partsOfUsesId,
  type VerdictReason,
  type Why,
} from '@backstop/contracts'
import { type ActionRecord, lastResultOf } from '../case/action-record.ts'
import type { Case } from '../case/case.ts'
import type { ExpectedChange } from '../case/expected-change.ts'
import { describeWait } from './awaited-operation.ts'
import { closestOperation } from './closest.ts'
import { type UsedUp, usedUpFor } from './cover-actions.ts'
import { MAX_NAMED } from './expected-change-uses.ts'
import {
  claimResultOf,
  providerReasonOf,
  requestedBetween,
  type TimedOperation,
  timedOperation,
} from './operation-match.ts'
import { byTime, nearestFirst } from './pairing.ts'

/** Explains a verdict in words. */

/** The number of operations that are listed with the reason why they do not fit, nearest in time first. */
const MAX_CANDIDATES = 10

type Rule = (action: ActionRecord) => string

const RULES: Record<VerdictReason, Rule> = {
  awaiting_second_look: () => 'Nothing explains it so far; its second look is still to come',
  provider_ref_matches: ({ operationId }) => `Operation ${operationId} names this very object`,
  request_id_matches: ({ operationId }) => `Operation ${operationId} names the id of this request`,
  idempotency_key_matches: ({ operationId }) => `Operation ${operationId} reports the idempotency key of this request`,
  credit_note_matches: ({ operationId }) =>
    `Operation ${operationId} names a credit note that this refund pays out, and covers the amount`,
  amount_and_time_match: ({ operationId, kind }) =>
    kind === 'refund'
      ? `Operation ${operationId} agrees in kind, subject, amount, currency and time`
      : `Operation ${operationId} agrees in kind, subject and time`,
  made_before_connection: () => 'The provider made it before the connection was made',
  scheduled_before: () => 'It was set already when the connection was made',
  expected_change_matches: ({ expectedChangeId }) => coveredText(expectedChangeId ?? ''),
  nothing_explains_it: () => 'Nothing explains it',
  out_of_band_ignore: action => `Nothing explains it; ${settingOwner(action)} is set to ignore such changes`,
  auto_before_first_operation: action =>
    `Nothing explains it; ${settingOwner(action)} is set to auto, and no operation on this account was reported as executing so far`,
  connection_deleted: () => 'Nothing explains it; the connection was deleted in the meantime',
  involuntary_end: () => 'The provider ended the subscription itself, e.g. after its last try to collect',
  no_payment_method: () =>
    'The provider ended the subscription itself: its trial or term came to its end, and there was no payment method',
  payment_disputed: () => 'The provider ended the subscription itself, because its payment was disputed',
  retention_policy: () => 'The provider ended the subscription itself, by its rule for old data',
  never_began: () => 'The first payment never came, so the subscription did not begin',
  not_billable: () =>
    'The provider ended the subscription itself, because it may not or cannot bill it (fraud review, compliance, tax or currency)',
  authorization_expired: () => 'An authorization expired before it was captured: no money moved',
  plan_ended: () => 'The subscription came to the end that its plan has',
  provider_denies_it: () => 'The provider could not be asked before the alert; read later, it does not know it',
  kind_is_not_judged: ({ kind }) => `A ${kind.replaceAll('_', ' ')} is recorded, not judged`,
}

function coveredText(usesId: string): string {
  const { expectedChangeId, firstDay } = partsOfUsesId(usesId)
  const period = firstDay === null ? '' : `, and counts it in the period from ${firstDay}`
  return `Expected change ${expectedChangeId} covers it${period}`
}

/** Which setting decided at the second look: that of a connected account, or of the connection. */
function settingOwner({ look }: ActionRecord): string {
  const own = lastResultOf(look)?.connections.find(({ account }) => account !== undefined)
  return own === undefined ? 'the connection' : `the account ${own.account}`
}

export function ruleOf(action: ActionRecord): string {
  return RULES[action.reason](action)
}

/**
 * Lists of a case's operations that the reasons of many actions need. Most actions have no candidates, so each list is
 * computed at its first use.
 */
export interface OperationIndex {
  /** Every operation of a case in order of time. */
  sorted(): readonly TimedOperation[]
  /** The operations that explain an action. */
  explaining(): ReadonlySet<string | null>
}

export function indexOperations({ operations, actions }: Case): OperationIndex {
  let sorted: readonly TimedOperation[] | undefined
  let explaining: ReadonlySet<string | null> | undefined
  return {
    sorted() {
      sorted ??= operations.map(timedOperation).sort(byTime)
      return sorted
    },
    explaining() {
      explaining ??= new Set(actions.map(({ operationId }) => operationId))
      return explaining
    },
  }
}

/** The reason why an operation that fits the action does not explain it. */
function whyNotAssigned(action: ActionRecord, { name }: TimedOperation, index: OperationIndex): CandidateFailure {
  if (index.explaining().has(name)) return 'explains_another'
  return action.operationId === null ? 'awaits_its_own' : 'other_operation_fits_better'
}

/** The provider's answer as a remark, unless the rule already states it. */
function readBackRemark({ readBack, reason }: ActionRecord): string {
  if (readBack === 'unavailable') return '; it was not re-read'
  return readBack === 'not_found' && reason !== 'provider_denies_it'
    ? '; the provider does not know it when it is asked'
    : ''
}

/** The reasons of verdicts without an explanation. */
const UNEXPLAINED: readonly VerdictReason[] = [
  'awaiting_second_look',
  'nothing_explains_it',
  'out_of_band_ignore',
  'auto_before_first_operation',
  'connection_deleted',
]

/** A remark about the expected change that would explain the action if it were not limited; empty if there is none. */
export function usedUpRemark(theCase: Case, action: ActionRecord): string {
  if (theCase.expectedChanges.length === 0 || !UNEXPLAINED.includes(action.reason)) return ''
  const usedUp = usedUpFor(theCase, action)
  return usedUp === undefined
    ? ''
    : `; expected change ${partsOfUsesId(usedUp.expectedChange.id).expectedChangeId} would cover it, but ${USED_UP_TEXTS[usedUp.lack](usedUp)}`
}

const USED_UP_TEXTS: Record<UsedUp['lack'], (usedUp: UsedUp) => string> = {
  deleted: () => 'was deleted',
  customer_unknown: ({ expectedChange }) =>
    `covers only customer ${expectedChange.customerId}, and the provider names no customer`,
  actor_unknown: ({ expectedChange }) =>
    `covers only actor ${expectedChange.actorId}, and the provider does not say who made it`,
  changes: usedUp => {
    const { period, maxChanges } = usedUp.expectedChange
    const limit = period === undefined ? 'was' : `the ${maxChanges} of ${periodText(period)} are`
    return `${limit} used up by ${usersText(usedUp)}`
  },
  amount: usedUp => {
    const { used, expectedChange } = usedUp
    const { period, maxAmount, currency } = expectedChange
    const left = Math.max(0, (maxAmount ?? 0) - used.amount)
    const whole =
      period === undefined ? 'its amount' : `the ${moneyText({ amount: maxAmount, currency })} of ${periodText(period)}`
    if (left === 0) return `${whole} is used up by ${usersText(usedUp)}`
    const text = `only ${moneyText({ amount: left, currency })} of ${whole} is left`
    return used.changes === 0 ? text : `${text}: the rest was used by ${usersText(usedUp)}`
  },
}

function periodText({ interval, firstDay }: NonNullable<ExpectedChange['period']>): string {
  return interval === 'day' ? firstDay : `the ${interval} from ${firstDay}`
}

function usersText({ by, used }: UsedUp): string {
  const named = by.slice(0, MAX_NAMED)
  const more = used.changes - named.length
  const all = more > 0 ? [...named, `${more} ${more === 1 ? 'other' : 'others'}`] : named
  return all.length === 1 ? all.join() : `${all.slice(0, -1).join(', ')} and ${all.at(-1)}`
}

/** What an unexplained action waits for; empty if it waits for nothing. */
function waitRemark(theCase: Case, action: ActionRecord): string {
  const wait = describeWait(theCase, action)
  return wait === undefined ? '' : `; ${wait.text}`
}

/**
 * The rule of the verdict, and the operations that do not fit, each with the reason.
 * @param index the operations of the case; pass it for many actions of one case
 */
export function whyOf(theCase: Case, action: ActionRecord, index = indexOperations(theCase)): Why {
  const candidates = candidatesOf(theCase, action, index).map(timed => {
    const claim = claimResultOf(action, timed.operation, timed)
    return { timed, failure: claim.kind === 'match' ? whyNotAssigned(action, timed, index) : claim.reason }
  })
  const closest = UNEXPLAINED.includes(action.reason) ? closestOperation(action, candidates) : undefined
  return {
    rule: `${ruleOf(action)}${readBackRemark(action)}${usedUpRemark(theCase, action)}${waitRemark(theCase, action)}`,
    candidates: candidates.map(({ timed, failure }) => ({
      operation_id: timed.name,
      failure,
      text: FAILURES[failure](action, timed.operation, timed),
    })),
    ...(closest === undefined ? {} : { closest }),
    read_back: action.readBack,
  }
}

/** The operations nearest in time that do not explain the action. */
export function candidatesOf(
  { operations }: Case,
  action: ActionRecord,
  index: OperationIndex,
): readonly TimedOperation[] {
  if (action.reason === 'kind_is_not_judged' || providerReasonOf(action) !== null) return []
  if (operations.every(({ operation_id }) => operation_id === action.operationId)) return []
  const candidates: TimedOperation[] = []
  for (const timed of nearestFirst(index.sorted(), action.providerCreatedAt)) {
    if (candidates.length === MAX_CANDIDATES) break
    if (timed.name !== action.operationId) candidates.push(timed)
  }
  return candidates
}

const moneyText = (of: { amount: number | null; currency: string | null }) =>
  formatMoney(of.amount, of.currency) ?? (of.amount === null ? 'no amount' : `${of.amount} in minor units`)

/** The time or time span at which the action was made or requested, as far as the provider states it. */
function timeText(action: ActionRecord): string {
  const { from, to } = requestedBetween(action)
  const since = action.madeFrom ?? from
  const verb = action.kind === 'cancellation' ? 'asked for' : 'made'
  return since < to ? `${verb} between ${isoTime(since)} and ${isoTime(to)}` : `${verb} at ${isoTime(to)}`
}

const FAILURES: Record<
  CandidateFailure,
  (action: ActionRecord, operation: Operation, timed: TimedOperation) => string
> = {
  operation_did_not_act: (_, { state }) =>
    `It is reported as ${state.replaceAll('_', ' ')}, and not as sent to the provider`,
  operation_skipped_approval: (_, { unapproved }) =>
    `It did not have the approval that it needed (${unapproved?.replaceAll('_', ' ')})`,
  other_kind: (action, { kind, provider }) =>
    kind === action.kind
      ? `It is about the ${provider} provider, and this is about the ${action.provider} provider`
      : `It is a ${kind}, and this is a ${action.kind}`,
  other_provider_ref: (action, { provider_ref }) => `It names ${provider_ref}, and this is ${action.providerRef}`,
  other_subject: (action, { subject }) => `It is about ${subject}, and this is about ${action.subject}`,
  other_amount: (action, operation) => `It is about ${moneyText(operation)}, and this is about ${moneyText(action)}`,
  outside_time_window: (action, { executing_at, ended_at }) =>
    `It may have acted from ${executing_at} to ${ended_at ?? 'an unreported end'}, ` +
    `and this was ${timeText(action)}`,
  explains_another: () => 'It would fit, and explains another action better',
  other_operation_fits_better: ({ operationId }) => `It would fit, and operation ${operationId} fits better`,
  awaits_its_own: ({ kind }, _, { until }) =>
    `It agrees with this, but its own ${kind} may still arrive; this is decided again at ${isoTime(until)}`,
}
