/**
 * The details that the processor gives, by the types of stripe 23.1.0 (API 2026-10-28). An event has `livemode` and `request`, and
 * says neither the name of the key nor the user: "ID of the API request that caused the event. If null, the event was automatic".
 * A change in the dashboard is an API request too (docs.stripe.com/development/dashboard/request-logs), and nothing in the event
 * distinguishes it.
 */
import type { Customer, Origin } from '@backstop/contracts'
import { customerIn, dashboardPage, readable, type SightingFacts, shownText, textAt } from '../../details.ts'
import type { ProcessorContext } from './context.ts'

/** A charge as the processor sends it; undefined if the event or the answer has only its id. */
export type Charge = Readonly<Record<string, unknown>> | undefined

/** The customer of a charge. The person who paid may differ from the customer, so the charge's own fields come first. */
export function payerOf(charge: Charge, customer: Customer | null = null): Customer {
  const known = customerIn(charge?.customer) ?? customer
  const billing = charge?.billing_details
  return {
    id: known?.id ?? customer?.id ?? null,
    name: textAt(billing, 'name') ?? known?.name ?? customer?.name ?? null,
    email: textAt(billing, 'email') ?? shownText(charge?.receipt_email) ?? known?.email ?? customer?.email ?? null,
  }
}

/**
 * The destination of a refund. A refund goes to the payment method of its charge, unless `destination_details` names another type,
 * e.g. the customer's cash balance.
 */
export function destinationOf(charge: Charge, refundTo: string | null): string | null {
  // A method is `{type: "card", card: {brand, last4}}`. Some other types have `last4`, too.
  const method = charge?.payment_method_details
  const type = textAt(method, 'type')
  if (type === null || (refundTo !== null && refundTo !== type)) return readable(refundTo)
  const name = readable(textAt(method, type, 'brand') ?? type)
  const last4 = textAt(method, type, 'last4')
  return last4 === null ? name : `${name} ${last4}`
}

/**
 * The origin of an object, from the event of its creation.
 * @param isAutomatic true if a field that only the processor sets shows that it acted by itself
 */
export function originOf(
  { requestId, idempotencyKey, by, client }: ProcessorContext,
  isAutomatic: boolean,
): Partial<Origin> | undefined {
  const id = shownText(requestId)
  const idempotency_key = shownText(idempotencyKey)
  if (id !== null) return { channel: 'api', request_id: id, idempotency_key, ...client }
  return { channel: isAutomatic && by !== 'request' ? 'automatic' : null, idempotency_key }
}

/**
 * Where people find a payment or subscription: its account, mode and page. Test mode has its own path. The processor documents no
 * address of a page of a connected account (docs.stripe.com/connect/dashboard/managing-individual-accounts).
 * @param livemode the field of the object, if its type has one. A refund has none.
 */
export function placeOf(
  { livemode: ofEvent, account }: ProcessorContext,
  livemode: unknown,
  kind: 'payments' | 'subscriptions',
  id: string | null,
): Pick<SightingFacts, 'mode' | 'account' | 'dashboardUrl'> {
  const isLive = ofEvent ?? livemode
  if (typeof isLive !== 'boolean') return { account }
  const mode = isLive ? 'live' : 'test'
  if (account !== null) return { mode, account }
  return { mode, dashboardUrl: dashboardPage(`https://dashboard.stripe.com/${isLive ? '' : 'test/'}${kind}`, id) }
}
