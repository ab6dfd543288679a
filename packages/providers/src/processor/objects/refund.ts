import { type ObjectState, ProviderId } from '@backstop/contracts'
import { z } from 'zod'
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
import { type ProcessorTelling, withKey } from './telling.ts'

const Refund = z.object({
  id: ProviderId,
  object: z.literal('refund'),
  amount: MinorUnits,
  currency: CurrencyCode,
  charge: helpful(Id),
  payment_intent: helpful(Id),
  created: UnixTime,
  status: helpful(z.string()),
  /** The caller may give three of the reasons; `expired_uncaptured_charge` is the processor's own. */
  reason: helpful(z.string()),
  failure_balance_transaction: helpful(Id),
})
type Refund = z.infer<typeof Refund>

export const meaningOfRefund: ObjectMeaning<ProcessorTelling> = (telling, object) =>
  reading('refund', Refund, object, refund => ({ kind: 'observed', sightings: refundSightings(telling, refund) }))

/** The refunds that can be read from a list that an account's API version puts into its charges. */
export function refundsIn(list: unknown): Refund[] {
  if (!Array.isArray(list)) return []
  return list.flatMap(entry => {
    const parsed = Refund.safeParse(entry)
    return parsed.success ? [parsed.data] : []
  })
}

export function refundSightings(telling: ProcessorTelling, refund: Refund): (ObservedAction | ObservedRecord)[] {
  const action = actionOf(telling, refund)
  const back = refund.failure_balance_transaction
  return back === null ? [action] : [action, reversalOf(telling, refund, back)]
}

function actionOf(telling: ProcessorTelling, refund: Refund): ObservedAction {
  // The payment intent first: it is the id that people and their software pass around.
  const naming = nameObject(telling, 'processor', 'refund', refund.id, [refund.payment_intent, refund.charge])
  const state = stateOf(refund.status)
  return {
    kind: 'action',
    action: 'refund',
    ...naming,
    refs: withKey(telling, naming.refs),
    providerRef: refund.id,
    gatewayRefs: [],
    amount: refund.amount,
    currency: refund.currency,
    state,
    // The processor gives its refunds no version: rank orders their states.
    stateVersion: null,
    createdAt: refund.created,
    ...cameBack(telling, state),
    idempotencyKey: telling.idempotencyKey,
    ...(telling.requestId === null ? {} : { requestId: telling.requestId }),
    ...(refund.reason === 'expired_uncaptured_charge' ? { isExpiredAuthorization: true } : {}),
  }
}

/** When its money came back: only the event of that very change says the moment. */
function cameBack(
  { toldAt, changedAt, previous }: ProcessorTelling,
  state: ObjectState,
): Pick<ObservedAction, 'cameBack'> {
  if ((state !== 'failed' && state !== 'canceled') || toldAt === null) return {}
  const changed = Object.keys(previous ?? {})
  const isThatChange = changed.length === 0 || changed.includes('status')
  return { cameBack: { at: isThatChange ? changedAt : null, by: toldAt } }
}

/** The money of a failed refund came back by a booking of its own. */
function reversalOf(telling: ProcessorTelling, refund: Refund, booking: string): ObservedRecord {
  const belongsTo = [refund.payment_intent, refund.charge, refund.id]
  return {
    kind: 'record',
    record: 'reversal',
    ...nameObject(telling, 'processor', 'reversal', booking, belongsTo),
    providerRef: booking,
    amount: refund.amount,
    currency: refund.currency,
    state: 'succeeded',
    stateVersion: null,
    // When the money came back the refund does not say; that it was refunded before then is what it says.
    createdAt: refund.created,
  }
}

/** The processor's states are an open list; one that is new counts as not final, so that a known one replaces it. */
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
