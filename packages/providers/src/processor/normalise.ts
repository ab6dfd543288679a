import { idempotencyReference, type ObjectState, objectReference } from '@backstop/contracts'
import { z } from 'zod'
import type { EventOrigin, Normalise, Normalised, ObservedAction, ObservedRefundTotal } from '../observation.ts'

/** Ids appear bare or, where the account expands them, as objects. */
const Id = z.union([z.string().min(1), z.object({ id: z.string().min(1) }).transform(object => object.id)])
/** Unix time up to the year 9999: what is beyond it was given in milliseconds. */
const Seconds = z.int().min(0).max(253_402_300_799)

/**
 * What stands around the object only helps: where it looks odd (`request` was a string once) it counts as absent, because
 * a refund must not go unseen for it.
 */
const Envelope = z.object({
  created: Seconds,
  livemode: z.boolean().catch(false),
  account: Id.nullish().catch(null),
  request: z
    .object({ idempotency_key: z.string().min(1).max(255).nullish().catch(null) })
    .nullish()
    .catch(null),
})

const Refund = z.object({
  id: z.string().min(1),
  object: z.literal('refund'),
  amount: z.int().min(0),
  currency: z.string().regex(/^[A-Za-z]{3}$/),
  charge: Id.nullish(),
  payment_intent: Id.nullish(),
  created: Seconds,
  status: z.string().nullish(),
})

const Charge = z.object({
  id: z.string().min(1),
  object: z.literal('charge'),
  amount_refunded: z.int().min(0),
  currency: z.string().regex(/^[A-Za-z]{3}$/),
  payment_intent: Id.nullish(),
})

const RefundEvent = Envelope.extend({ data: z.object({ object: Refund }) })
const ChargeEvent = Envelope.extend({
  data: z.object({
    object: Charge,
    previous_attributes: z
      .object({ amount_refunded: z.int().min(0) })
      .nullish()
      .catch(null),
  }),
})

/**
 * What a card processor's event means (guides: providers.md §1.3). Events that the interface lists but that are no
 * refunds are recorded as ignored, with the reason.
 */
export const normaliseProcessorEvent: Normalise = (origin, event) => {
  switch (origin.eventType) {
    case 'refund.created':
    case 'refund.updated':
    case 'refund.failed':
      return read(RefundEvent, event, parsed => refundOf(origin, parsed))
    case 'charge.refunded':
      return read(ChargeEvent, event, parsed => refundTotalOf(origin, parsed))
    default:
      return { kind: 'ignored', reason: `Events of type ${origin.eventType} are not judged` }
  }
}

function read<T>(schema: z.ZodType<T>, event: unknown, then: (parsed: T) => Normalised): Normalised {
  const parsed = schema.safeParse(event)
  if (parsed.success) return then(parsed.data)
  const issue = parsed.error.issues[0]
  return { kind: 'malformed', reason: `${issue?.path.join('.') || 'event'}: ${issue?.message ?? 'not valid'}` }
}

/** Account and mode stand in every identity: the same id in test mode is another refund. */
function scope(origin: EventOrigin, envelope: z.infer<typeof Envelope>): string {
  return `${origin.projectId}/processor/${envelope.account ?? 'platform'}/${envelope.livemode ? 'live' : 'test'}`
}

function refundOf(origin: EventOrigin, event: z.infer<typeof RefundEvent>): ObservedAction {
  const refund = event.data.object
  // The payment intent first: it is the id that people and their software pass around.
  const objectIds = [refund.payment_intent, refund.charge].filter(id => typeof id === 'string')
  // An update's key is that of the updating request: only the event of the making knows the key of the making.
  const idempotencyKey = origin.eventType === 'refund.created' ? (event.request?.idempotency_key ?? null) : null
  return {
    kind: 'action',
    action: 'refund',
    provider: 'processor',
    identity: `${scope(origin, event)}/refund/${refund.id}`,
    refs: references(origin.projectId, [...objectIds, refund.id], idempotencyKey),
    objectIds,
    subject: objectIds[0] ?? refund.id,
    providerRef: refund.id,
    amount: refund.amount,
    currency: refund.currency.toLowerCase(),
    state: refundState(refund.status),
    createdAt: refund.created * 1000,
    idempotencyKey,
  }
}

function refundTotalOf(origin: EventOrigin, event: z.infer<typeof ChargeEvent>): ObservedRefundTotal {
  const charge = event.data.object
  const objectIds = [charge.payment_intent, charge.id].filter(id => typeof id === 'string')
  const idempotencyKey = event.request?.idempotency_key ?? null
  return {
    kind: 'refund_total',
    provider: 'processor',
    identity: `${scope(origin, event)}/charge/${charge.id}`,
    refs: references(origin.projectId, objectIds, idempotencyKey),
    objectIds,
    subject: objectIds[0] ?? charge.id,
    chargeId: charge.id,
    total: charge.amount_refunded,
    totalBefore: event.data.previous_attributes?.amount_refunded ?? null,
    currency: charge.currency.toLowerCase(),
    observedAt: event.created * 1000,
    idempotencyKey,
  }
}

function references(projectId: string, ids: readonly string[], idempotencyKey: string | null): string[] {
  const refs = ids.map(id => objectReference(projectId, 'processor', undefined, id))
  return idempotencyKey === null ? refs : [...refs, idempotencyReference(projectId, 'processor', idempotencyKey)]
}

/** The processor's states are an open list; one that is new counts as not final, so that a known one replaces it. */
function refundState(status: string | null | undefined): ObjectState {
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
