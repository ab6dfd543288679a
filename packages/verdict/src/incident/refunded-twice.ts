import { type Action, hasEndedByItself, isoTime, movedNoMoney, type RefundedTwice } from '@backstop/contracts'
import { type ActionRecord, openIncident } from '../case/action-record.ts'
import type { Case, RefundedTwiceSetting, RefundedTwiceSettings } from '../case/case.ts'
import type { IncidentRecord } from '../case/incident-record.ts'
import { detailsOf } from '../case/sides.ts'
import { stateOf } from '../case/timeline.ts'
import { openIncidentAbout, resolveIncident } from './incidents.ts'

/**
 * The rule about second refunds, which a connection may choose: software that retries a refund which had succeeded refunds twice, and its
 * operations explain both. It is off by default, because equal partial refunds of one payment may be meant.
 *
 * | answer | the later of two refunds |
 * |---|---|
 * | `no_refund_of_ours` | one of the two is no refund, or no operation explains it |
 * | `no_id` | one of the two is known only from a total of its charge, so its id and its time are unknown |
 * | `other_payment` | is of another payment, or its payment is unknown |
 * | `other_amount` | has another amount or currency, or none |
 * | `no_money_moved` | one of the two failed, was canceled, rejected or taken back, or released an authorization |
 * | `same_operation` | was made by the same operation: its software made both on purpose, e.g. to pay out one credit note |
 * | `rule_is_off` | no connection that shows both has the rule |
 * | `out_of_band_ignore` | every connection with the rule has `out_of_band: ignore` |
 * | `too_late` | was made after the rule's hours had passed since the earlier one |
 * | `refunded_twice` | else: opens REFUNDED_TWICE about the later one |
 */
export const TWICE_ANSWERS = [
  'no_refund_of_ours',
  'no_id',
  'other_payment',
  'other_amount',
  'no_money_moved',
  'same_operation',
  'rule_is_off',
  'out_of_band_ignore',
  'too_late',
  'refunded_twice',
] as const
type SilentAnswer = Exclude<(typeof TWICE_ANSWERS)[number], 'refunded_twice'>

/** The fields of an action that the rule compares, beside its id. */
export const COMPARED_FIELDS = [
  'connection_ids',
  'provider',
  'kind',
  'subject',
  'provider_ref',
  'amount',
  'currency',
  'state',
  'authorization_released',
  'provider_created_at',
  'verdict',
  'operation_id',
  'payment',
] as const satisfies readonly (keyof Action)[]
export type ComparedRefund = Pick<Action, 'action_id' | (typeof COMPARED_FIELDS)[number]>

type Comparison =
  | { readonly answer: SilentAnswer }
  | { readonly answer: 'refunded_twice'; readonly connectionId: string; readonly setting: RefundedTwiceSetting }

/** Whether the later refund repeats the earlier one. */
export function compareRefunds(
  earlier: ComparedRefund,
  later: ComparedRefund,
  settings: RefundedTwiceSettings,
): Comparison {
  const both = [earlier, later]
  const answer = (silent: SilentAnswer): Comparison => ({ answer: silent })
  if (!both.every(isOurRefund)) return answer('no_refund_of_ours')
  if (both.some(({ provider_ref }) => provider_ref === null)) return answer('no_id')
  const payment = paymentOf(later)
  if (payment === null || payment !== paymentOf(earlier)) return answer('other_payment')
  const hasMoney = later.amount !== null && later.currency !== null
  if (!hasMoney || later.amount !== earlier.amount || later.currency !== earlier.currency) return answer('other_amount')
  if (both.some(movedNothing)) return answer('no_money_moved')
  if (later.operation_id === earlier.operation_id) return answer('same_operation')
  return withinTimeOf(earlier, later, settings)
}

function withinTimeOf(earlier: ComparedRefund, later: ComparedRefund, settings: RefundedTwiceSettings): Comparison {
  const chosen = later.connection_ids
    .filter(id => earlier.connection_ids.includes(id))
    .flatMap(connectionId => {
      const setting = settings[connectionId]
      return setting == null ? [] : [{ connectionId, setting }]
    })
  const alerting = chosen.filter(({ setting }) => setting.outOfBand !== 'ignore')
  // The strictest setting applies: the longest time.
  const [strictest] = alerting.sort((a, b) => b.setting.withinMs - a.setting.withinMs)
  if (strictest === undefined) return { answer: chosen.length === 0 ? 'rule_is_off' : 'out_of_band_ignore' }
  const apartMs = Date.parse(later.provider_created_at) - Date.parse(earlier.provider_created_at)
  return apartMs > strictest.setting.withinMs ? { answer: 'too_late' } : { answer: 'refunded_twice', ...strictest }
}

function isOurRefund({ kind, verdict, operation_id }: ComparedRefund): boolean {
  return kind === 'refund' && verdict === 'explained' && operation_id !== null
}

function movedNothing({ state, authorization_released }: Pick<ComparedRefund, 'state' | 'authorization_released'>) {
  return movedNoMoney(state) || authorization_released === true
}

/** The subject of a biller's refund is the subscription, which has many payments, so there the invoice tells them apart. */
function paymentOf({ provider, subject, payment }: ComparedRefund): string | null {
  return provider === 'subscription' ? (payment?.number ?? null) : subject
}

/** A refund that repeats another one. */
interface Repeat<R extends ComparedRefund> {
  readonly refund: R
  readonly refundedTwice: RefundedTwice
  readonly connectionId: string
  readonly setting: RefundedTwiceSetting
}

/** Each refund that repeats one before it, with the nearest of these. The order of the given refunds does not matter. */
export function findRepeats<R extends ComparedRefund>(
  refunds: readonly R[],
  settings: RefundedTwiceSettings,
): readonly Repeat<R>[] {
  const equal = Map.groupBy(refunds.filter(isOurRefund), refund => `${paymentOf(refund)}/${refund.amount}`)
  return [...equal.values()].flatMap(group => {
    const ordered = group.length < 2 ? [] : group.toSorted(byTime)
    return ordered.flatMap((refund, index) => {
      for (const earlier of ordered.slice(0, index).reverse()) {
        const compared = compareRefunds(earlier, refund, settings)
        if (compared.answer === 'too_late') return []
        if (compared.answer !== 'refunded_twice') continue
        const { connectionId, setting } = compared
        return [{ refund, refundedTwice: describePair(earlier, refund), connectionId, setting }]
      }
      return []
    })
  })
}

function byTime(a: ComparedRefund, b: ComparedRefund): number {
  return Date.parse(a.provider_created_at) - Date.parse(b.provider_created_at) || (a.action_id < b.action_id ? -1 : 1)
}

function describePair(earlier: ComparedRefund, later: ComparedRefund): RefundedTwice {
  return {
    operation_id: later.operation_id ?? '',
    earlier: {
      action_id: earlier.action_id,
      provider_ref: earlier.provider_ref ?? '',
      operation_id: earlier.operation_id ?? '',
      provider_created_at: earlier.provider_created_at,
    },
  }
}

/** Opens an incident about each refund that repeats another one, once, and resolves those whose pair ended. */
export function reportRefundedTwice(theCase: Case, now: number): Case {
  const { refundedTwice: settings } = theCase
  if (settings === undefined) return theCase
  const resolved = theCase.actions.reduce((next, record) => resolveEnded(next, record, now), theCase)
  const refunds = resolved.actions.filter(({ kind, operationId }) => kind === 'refund' && operationId !== null)
  if (refunds.length < 2) return resolved
  return findRepeats(refunds.map(comparedRefund), settings).reduce((next, repeat) => {
    const record = next.actions.find(({ id }) => id === repeat.refund.action_id)
    const { connectionId, setting, refundedTwice } = repeat
    if (record === undefined || isReported(next, record, refundedTwice.earlier.action_id)) return next
    const cause = { code: 'REFUNDED_TWICE', connectionId, outOfBand: setting.outOfBand, refundedTwice } as const
    // After the end of an incident, the number of incidents before it identifies the next one.
    return openIncidentAbout(next, record, cause, `REFUNDED_TWICE/${incidentsOf(record).length}`, now)
  }, resolved)
}

type TwiceIncident = Extract<IncidentRecord, { code: 'REFUNDED_TWICE' }>

function incidentsOf({ incidents }: ActionRecord): readonly TwiceIncident[] {
  return incidents.filter(incident => incident.code === 'REFUNDED_TWICE')
}

/**
 * True if an incident is open about the later refund, or one about the earlier refund names the later one: which of them came first may change
 * when the provider states a time more exactly.
 */
function isReported({ actions }: Case, later: ActionRecord, earlierId: string): boolean {
  if (openIncident(later, 'REFUNDED_TWICE') !== undefined) return true
  const earlier = actions.find(({ id }) => id === earlierId)
  return (
    earlier !== undefined &&
    incidentsOf(earlier).some(
      ({ refundedTwice, state, lifeCycle }) =>
        refundedTwice.earlier.action_id === later.id && !hasEndedByItself({ state, reason: lifeCycle?.reason }),
    )
  )
}

function resolveEnded(theCase: Case, record: ActionRecord, now: number): Case {
  const incident = incidentsOf(record).find(({ state }) => state !== 'resolved')
  const end = incident === undefined ? null : whyEnded(theCase, record, incident)
  return incident === undefined || end === null
    ? theCase
    : resolveIncident(theCase, record, incident, { by: null, text: end }, now)
}

/**
 * Why the later refund of an incident no longer repeats the earlier one; null if it still does. A pending refund is about to get its verdict, so the
 * incident waits for it.
 */
export function whyEnded(theCase: Case, later: ActionRecord, { refundedTwice }: TwiceIncident): string | null {
  const { action_id, provider_ref } = refundedTwice.earlier
  const earlier = theCase.actions.find(({ id }) => id === action_id)
  if (earlier === undefined) {
    // An evicted refund can no longer change.
    return theCase.evicted.some(({ actionId }) => actionId === action_id)
      ? null
      : `${provider_ref} turned out to be a part of another refund`
  }
  for (const record of [later, earlier]) {
    const name = record.providerRef ?? record.id
    if (movedNothing(comparedRefund(record)))
      return `No money moved by ${name}: the provider shows it as ${stateOf(record)}`
    if (record.verdict !== 'pending' && record.operationId === null) return `No operation explains ${name} any more`
  }
  const isOne = later.operationId !== null && later.operationId === earlier.operationId
  return isOne ? `Operation ${later.operationId} explains both refunds` : null
}

function comparedRefund(record: ActionRecord): ComparedRefund {
  const number = record.provider === 'subscription' ? detailsOf(record)?.['payment.number']?.[0] : undefined
  return {
    action_id: record.id,
    connection_ids: record.seenThrough.map(({ id }) => id),
    provider: record.provider,
    kind: record.kind,
    subject: record.subject,
    provider_ref: record.providerRef,
    amount: record.amount,
    currency: record.currency,
    state: record.state,
    ...(record.isRelease ? { authorization_released: true } : {}),
    provider_created_at: isoTime(record.providerCreatedAt),
    verdict: record.verdict,
    operation_id: record.operationId,
    ...(number === undefined ? {} : { payment: { number, plan: null, refund_reason: null, destination: null } }),
  }
}
