import { type ObjectState, ProviderId } from '@backstop/contracts'
import { z } from 'zod'
import { customerIn, detailsOf, shownText, textAt } from '../../details.ts'
import { objectAt } from '../../event-fields.ts'
import {
  CurrencyCode,
  Detail,
  helpful,
  Id,
  MinorUnits,
  nameObject,
  type ObjectMeaning,
  reading,
  stateIn,
  UnixTime,
} from '../../object-fields.ts'
import type { ObservedAction, ObservedRecord } from '../../sighting.ts'
import { type ProcessorContext, withKey } from './context.ts'
import { type Charge, destinationOf, originOf, payerOf, placeOf } from './details.ts'

export const Refund = z.object({
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
  customer: Detail,
  destination_details: Detail,
  receipt_number: Detail,
})
type Refund = z.infer<typeof Refund>

/** Normalises a refund. Its charge has the most details, if it is expanded. */
export const meaningOfRefund: ObjectMeaning<ProcessorContext> = (context, object) =>
  reading('refund', Refund, object, refund => ({
    kind: 'observed',
    sightings: refundSightings(context, refund, objectAt(object.charge)),
  }))

/** The valid refunds in the list of a charge. Only some API versions have the list. */
export function refundsIn(list: unknown): Refund[] {
  if (!Array.isArray(list)) return []
  return list.flatMap(entry => {
    const parsed = Refund.safeParse(entry)
    return parsed.success ? [parsed.data] : []
  })
}

/** The sightings of a parsed refund: the refund, and its reversal if the refund failed and the money came back. */
export function refundSightings(
  context: ProcessorContext,
  refund: Refund,
  charge: Charge,
): (ObservedAction | ObservedRecord)[] {
  // The refund of a charge that was never captured releases the authorization: the money was never taken.
  const release = charge?.captured === false ? { isReleasedAuthorization: true as const } : {}
  const action = { ...actionOf(context, refund), ...release, ...refundDetails(context, refund, charge) }
  const back = refund.failure_balance_transaction
  return back === null ? [action] : [action, reversalOf(context, refund, back)]
}

function actionOf(context: ProcessorContext, refund: Refund): ObservedAction {
  // The payment intent is first, because people and their software use its id.
  const naming = nameObject(context, 'processor', 'refund', refund.id, [refund.payment_intent, refund.charge])
  const state = stateIn(STATES, refund.status)
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

function refundDetails(context: ProcessorContext, refund: Refund, charge: Charge) {
  return detailsOf({
    // Only the processor sets this reason.
    origin: originOf(context, refund.reason === 'expired_uncaptured_charge'),
    customer: payerOf(charge, customerIn(refund.customer)),
    payment: {
      number: shownText(charge?.receipt_number) ?? shownText(refund.receipt_number),
      refund_reason: shownText(refund.reason),
      destination: destinationOf(charge, textAt(refund.destination_details, 'type')),
    },
    ...placeOf(context, charge?.livemode, 'payments', refund.payment_intent ?? refund.charge),
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

const STATES: Readonly<Record<string, ObjectState>> = {
  succeeded: 'succeeded',
  failed: 'failed',
  canceled: 'canceled',
  requires_action: 'requires_action',
}
