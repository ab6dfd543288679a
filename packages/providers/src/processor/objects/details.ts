/**
 * The details that the processor gives, by the types of stripe 23.1.0 (API 2026-10-28). An event has `livemode` and `request`, and
 * says neither the name of the key nor the user: "ID of the API request that caused the event. If null, the event was automatic".
 * A change in the dashboard is an API request too (docs.stripe.com/development/dashboard/request-logs), and nothing in the event
 * distinguishes it.
 */
import type { Customer, Origin } from '@backstop/contracts'
import { z } from 'zod'
import { CustomerField, dashboardPage, readable, ShownText } from '../../details.ts'
import { helpful } from '../../object-fields.ts'
import type { SightingDetails } from '../../sighting.ts'
import type { ProcessorContext } from './context.ts'

/** A payment method: `{type: "card", card: {brand, last4}}`. Some other types have `last4`, too. */
const Method = helpful(z.looseObject({ type: ShownText }))
const MethodFields = helpful(z.object({ brand: ShownText, last4: ShownText }))

const ChargeFields = z.object({
  livemode: helpful(z.boolean()),
  customer: CustomerField,
  billing_details: helpful(z.object({ name: ShownText, email: ShownText })),
  receipt_email: ShownText,
  receipt_number: ShownText,
  payment_method_details: Method,
})

/** The facts of a charge that people need. */
export const ChargeFacts = helpful(ChargeFields)
export type ChargeFacts = z.infer<typeof ChargeFields>

/** The customer of a charge. The person who paid may differ from the customer, so the charge's own fields come first. */
export function payerOf(charge: ChargeFacts | null, customer: Customer | null = null): Customer {
  const known = charge?.customer ?? customer
  return {
    id: known?.id ?? customer?.id ?? null,
    name: charge?.billing_details?.name ?? known?.name ?? customer?.name ?? null,
    email: charge?.billing_details?.email ?? charge?.receipt_email ?? known?.email ?? customer?.email ?? null,
  }
}

/**
 * The destination of a refund. A refund goes to the payment method of its charge, unless `destination_details` names another type,
 * e.g. the customer's cash balance.
 */
export function destinationOf(charge: ChargeFacts | null, refundTo: string | null): string | null {
  const method = charge?.payment_method_details ?? null
  if (method === null || method.type === null || (refundTo !== null && refundTo !== method.type))
    return readable(refundTo)
  const fields = MethodFields.parse(method[method.type])
  const name = readable(fields?.brand ?? method.type)
  return fields?.last4 == null ? name : `${name} ${fields.last4}`
}

/**
 * The origin of an object, from the event of its creation.
 * @param isAutomatic true if a field that only the processor sets shows that it acted by itself
 */
export function originOf(
  { requestId, idempotencyKey, by }: ProcessorContext,
  isAutomatic: boolean,
): Partial<Origin> | undefined {
  const id = ShownText.parse(requestId)
  const idempotency_key = ShownText.parse(idempotencyKey)
  if (id !== null) return { channel: 'api', request_id: id, idempotency_key }
  return { channel: isAutomatic && by !== 'request' ? 'automatic' : null, idempotency_key }
}

/** @param livemode the field of the object, if its type has one. A refund has none. */
export function modeOf(
  { livemode: ofEvent }: ProcessorContext,
  livemode: boolean | null = null,
): SightingDetails['mode'] | null {
  const isLive = ofEvent ?? livemode
  return isLive === null ? null : isLive ? 'live' : 'test'
}

/** The page of a payment or subscription. Test mode has its own path. Pages of connected accounts have another, unknown path. */
export function pageOf(
  { isOfConnectedAccount }: ProcessorContext,
  mode: SightingDetails['mode'] | null,
  kind: 'payments' | 'subscriptions',
  id: string | null,
): string | null {
  if (mode === null || isOfConnectedAccount) return null
  return dashboardPage(`https://dashboard.stripe.com/${mode === 'test' ? 'test/' : ''}${kind}`, id)
}
