import { ProviderId } from '@backstop/contracts'
import { z } from 'zod'
import { detailsOf, shownText } from '../../details.ts'
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
import type { ObservedRefundTotal, Sighting } from '../../sighting.ts'
import { type ProcessorContext, withKey } from './context.ts'
import { destinationOf, originOf, payerOf, placeOf } from './details.ts'
import { refundSightings, refundsIn } from './refund.ts'

export const Charge = z.object({
  id: ProviderId,
  object: z.literal('charge'),
  amount_refunded: MinorUnits,
  currency: CurrencyCode,
  payment_intent: helpful(Id),
  created: helpful(UnixTime),
  captured: helpful(z.boolean()),
  amount: helpful(MinorUnits),
  amount_captured: helpful(MinorUnits),
  /** The list of refunds. Present in API versions before 2022-11-15, or if it was expanded. */
  refunds: helpful(z.object({ data: z.unknown() })),
})
type Charge = z.infer<typeof Charge>
type TimedContext = ProcessorContext & { readonly shownAt: number }

/**
 * Normalises a charge: the total of its refunds, and the refunds that it lists. A request creates one refund, so the event's
 * idempotency key belongs to the newest refund if its amount is the difference of the totals.
 */
export const meaningOfCharge: ObjectMeaning<ProcessorContext> = (context, object) =>
  reading('charge', Charge, object, charge => {
    const { shownAt } = context
    if (shownAt === null) return { kind: 'malformed', reason: 'created: The event says no time' }
    const total = totalOf({ ...context, shownAt }, charge, object)
    const refunds = refundsIn(charge.refunds?.data)
    const newest = refunds.reduce<number>((latest, refund) => Math.max(latest, refund.created), 0)
    const isOfThisRequest = (refund: { created: number; amount: number }) =>
      refund.created === newest && total.totalBefore !== null && refund.amount === total.total - total.totalBefore
    const candidates = refunds.filter(isOfThisRequest)
    const sightings: Sighting[] = refunds.flatMap<Sighting>(refund => {
      const isIts = candidates.length === 1 && candidates[0] === refund
      const listed = { ...context, changedAt: null }
      const own = { ...refund, charge: charge.id, payment_intent: refund.payment_intent ?? charge.payment_intent }
      return refundSightings(isIts ? listed : { ...listed, idempotencyKey: null, requestId: null }, own, object)
    })
    // An authorization that expired was released by nobody.
    if (charge.captured !== false || context.by !== 'itself') sightings.push(total)
    return sightings.length > 0
      ? { kind: 'observed', sightings }
      : { kind: 'ignored', reason: 'The authorization expired uncaptured, and no money moved' }
  })

function totalOf(
  context: TimedContext,
  charge: Charge,
  object: Readonly<Record<string, unknown>>,
): ObservedRefundTotal {
  const naming = nameObject(context, 'processor', 'charge', charge.id, [charge.payment_intent, charge.id])
  const before = MinorUnits.safeParse(context.previous?.amount_refunded)
  return {
    kind: 'refund_total',
    ...naming,
    refs: withKey(context, naming.refs),
    chargeId: charge.id,
    total: charge.amount_refunded,
    totalBefore: before.success ? before.data : null,
    uncaptured: uncapturedOf(charge),
    ...(charge.captured === false ? { isReleasedAuthorization: true } : {}),
    currency: charge.currency,
    chargeCreatedAt: charge.created,
    observedAt: context.shownAt,
    idempotencyKey: context.idempotencyKey,
    requestId: context.requestId,
    ...detailsOf({
      origin: originOf(context, false),
      customer: payerOf(object),
      payment: { number: shownText(object.receipt_number), destination: destinationOf(object, null) },
      ...placeOf(context, object.livemode, 'payments', charge.payment_intent ?? charge.id),
    }),
  }
}

/** The authorized amount that was never captured. When a part is captured, the processor releases the rest. */
function uncapturedOf({ captured, amount, amount_captured }: Charge): number {
  if (captured !== true || amount === null || amount_captured === null) return 0
  return Math.max(0, amount - amount_captured)
}
