import { type ObjectState, ProviderId } from '@backstop/contracts'
import { z } from 'zod'
import { CustomerField, detailsOf, ShownText } from '../../details.ts'
import {
  CurrencyCode,
  helpful,
  Id,
  MinorUnits,
  nameObject,
  type ObjectMeaning,
  reading,
  UnixTime,
} from '../../object-fields.ts'
import type { ObservedAction, ObservedRecord } from '../../sighting.ts'
import { type ProcessorContext, withKey } from './context.ts'
import { ChargeFacts, destinationOf, modeOf, originOf, pageOf, payerOf } from './details.ts'

const Refund = z.object({
  id: ProviderId,
  object: z.literal('refund'),
  amount: MinorUnits,
  currency: CurrencyCode,
  charge: helpful(Id),
  payment_intent: helpful(Id),
  created: UnixTime,
  status: helpful(z.string()),
  /** The reason. Callers can set three values; only the processor sets `expired_uncaptured_charge`. */
  reason: helpful(z.string()),
  failure_balance_transaction: helpful(Id),
  customer: CustomerField,
  destination_details: helpful(z.object({ type: ShownText })),
  receipt_number: ShownText,
})
type Refund = z.infer<typeof Refund>

/** Normalises a refund. Its charge has the most details, if it is expanded. */
export const meaningOfRefund: ObjectMeaning<ProcessorContext> = (context, object) =>
  reading('refund', Refund, object, refund => ({
    kind: 'observed',
    sightings: refundSightings(context, refund, ChargeFacts.parse(object.charge)),
  }))

/** The valid refunds in the list of a charge. Only some API versions have the list. */
export function refundsIn(list: unknown): Refund[] {
  if (!Array.isArray(list)) return []
  return list.flatMap(entry => {
    const parsed = Refund.safeParse(entry)
    return parsed.success ? [parsed.data] : []
  })
}

/**
 * The sightings of a parsed refund: the refund, and its reversal if the refund failed and the money came back.
 * @param charge null if the event or the answer does not have it
 */
export function refundSightings(
  context: ProcessorContext,
  refund: Refund,
  charge: ChargeFacts | null,
): (ObservedAction | ObservedRecord)[] {
  const action = { ...actionOf(context, refund), ...refundDetails(context, refund, charge) }
  const back = refund.failure_balance_transaction
  return back === null ? [action] : [action, reversalOf(context, refund, back)]
}

function actionOf(context: ProcessorContext, refund: Refund): ObservedAction {
  // The payment intent is first, because people and their software use its id.
  const naming = nameObject(context, 'processor', 'refund', refund.id, [refund.payment_intent, refund.charge])
  const state = stateOf(refund.status)
  return {
    kind: 'action',
    action: 'refund',
    ...naming,
    refs: withKey(context, naming.refs),
    providerRef: refund.id,
    gatewayRefs: [],
    amount: refund.amount,
    currency: refund.currency,
    state,
    // The processor's refunds have no version, so their states are ordered by rank.
    stateVersion: null,
    createdAt: refund.created,
    ...cameBack(context, state),
    idempotencyKey: context.idempotencyKey,
    ...(context.requestId === null ? {} : { requestId: context.requestId }),
    ...(refund.reason === 'expired_uncaptured_charge' ? { isExpiredAuthorization: true } : {}),
  }
}

function refundDetails(context: ProcessorContext, refund: Refund, charge: ChargeFacts | null) {
  const mode = modeOf(context, charge?.livemode)
  return detailsOf({
    // Only the processor sets this reason.
    origin: originOf(context, refund.reason === 'expired_uncaptured_charge'),
    customer: payerOf(charge, refund.customer),
    payment: {
      number: charge?.receipt_number ?? refund.receipt_number,
      refund_reason: ShownText.parse(refund.reason),
      destination: destinationOf(charge, refund.destination_details?.type ?? null),
    },
    mode,
    dashboardUrl: pageOf(context, mode, 'payments', refund.payment_intent ?? refund.charge),
  })
}

/** The time at which the money of a failed or cancelled refund came back. Only the event of the failure has the exact time. */
function cameBack(
  { shownAt, changedAt, previous }: ProcessorContext,
  state: ObjectState,
): Pick<ObservedAction, 'cameBack'> {
  if ((state !== 'failed' && state !== 'canceled') || shownAt === null) return {}
  const changed = Object.keys(previous ?? {})
  const isThatChange = changed.length === 0 || changed.includes('status')
  return { cameBack: { at: isThatChange ? changedAt : null, by: shownAt } }
}

/** The sighting of a reversal. The money of a failed refund comes back by a separate balance transaction. */
function reversalOf(context: ProcessorContext, refund: Refund, booking: string): ObservedRecord {
  const belongsTo = [refund.payment_intent, refund.charge, refund.id]
  return {
    kind: 'record',
    record: 'reversal',
    ...nameObject(context, 'processor', 'reversal', booking, belongsTo),
    providerRef: booking,
    amount: refund.amount,
    currency: refund.currency,
    state: 'succeeded',
    stateVersion: null,
    // The time of the refund, because the refund does not show the time of its reversal.
    createdAt: refund.created,
  }
}

/** The state of a refund. A state that the processor adds later is mapped to pending, so that a known state replaces it. */
function stateOf(status: string | null): ObjectState {
  switch (status) {
    case 'succeeded':
    case 'failed':
    case 'canceled':
    case 'requires_action':
      return status
    default:
      return 'pending'
  }
}
