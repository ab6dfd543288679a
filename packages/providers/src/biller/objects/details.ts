/**
 * The details that the biller gives, by the types of chargebee 3.33.0. Only an event says how and by whom its object was made:
 * `source`, `user` (the operator's address for admin_console, the name of the key for api, js_api and bulk_operation) and
 * `origin_user`. The site gives the mode and the address of the dashboard. There is no id of a request, and no idempotency key.
 */
import { type Customer, isProviderId, type Origin } from '@backstop/contracts'
import { dashboardPage, readable, shownText, textAt } from '../../details.ts'
import { fieldAt, objectAt } from '../../event-fields.ts'
import { type SightingContext, UnixTime } from '../../object-fields.ts'
import type { SightingDetails } from '../../sighting.ts'

/** The inputs of normalisation besides the object. */
export interface BillerContext extends SightingContext {
  /** The facts of the event that contained the object. Null for an object that was read alone. */
  readonly event: EventFacts | null
}

/** The facts of an event that its object does not have. */
export interface EventFacts {
  /** Null for an event that creates neither a refund nor an end, or whose time is missing. */
  readonly creation: CreationFacts | null
  /** Null for an event that creates neither a refund nor an end. */
  readonly origin: Partial<Origin> | null
  readonly customer: Omit<Customer, 'id'> | null
  /** The id of an invoice is the invoice number. */
  readonly invoice: string | null
  readonly plan: string | null
  readonly card: { readonly card_type: string | null; readonly last4: string | null }
}

/** The creation of a refund or an end, as its event reports it. Nobody can choose these facts. */
interface CreationFacts {
  /** Milliseconds since the epoch. */
  readonly at: number
  /** True unless the biller made it by itself, e.g. by carrying out an end that was set. */
  readonly isRequest: boolean
}

/** The sources of events that the biller causes by itself. */
const AUTOMATIC: readonly unknown[] = ['scheduled_job', 'system']

/** The facts of an event that was read. @param isCreation true if the event creates a refund or an end */
export function factsOfEvent(event: Readonly<Record<string, unknown>>, isCreation: boolean): EventFacts {
  const { customer, invoice, subscription, card } = objectAt(event, 'content') ?? {}
  const occurredAt = UnixTime.safeParse(event.occurred_at)
  // A deletion does not say when the subscription ended: it may have ended long before.
  const isDated = isCreation && occurredAt.success && event.event_type !== 'subscription_deleted'
  return {
    creation: isDated ? { at: occurredAt.data, isRequest: !AUTOMATIC.includes(event.source) } : null,
    origin: isCreation ? originOf(event) : null,
    customer: customer ? personIn(customer) : null,
    invoice: textAt(invoice, 'id'),
    plan: planOf(subscription),
    card: { card_type: textAt(card, 'card_type'), last4: textAt(card, 'last4') },
  }
}

function personIn(customer: unknown): Omit<Customer, 'id'> {
  const billing = fieldAt(customer, 'billing_address')
  return {
    name: nameIn(customer) ?? nameIn(billing) ?? textAt(customer, 'company') ?? textAt(billing, 'company'),
    email: textAt(customer, 'email') ?? textAt(billing, 'email'),
  }
}

function nameIn(person: unknown): string | null {
  return [textAt(person, 'first_name'), textAt(person, 'last_name')].filter(Boolean).join(' ') || null
}

function originOf(event: Readonly<Record<string, unknown>>): Partial<Origin> {
  const user = shownText(event.user)
  switch (event.source) {
    case 'admin_console':
      return { channel: 'dashboard', user }
    case 'api':
    case 'js_api':
    case 'bulk_operation':
      // The caller of the API can set origin_user, so it is what the caller claims.
      return { channel: 'api', key_name: user, user: shownText(event.origin_user) }
    case 'scheduled_job':
    case 'system':
      return { channel: 'automatic' }
    case 'hosted_page':
    case 'portal':
      return { channel: 'hosted_page' }
    default:
      // none, migration and external_service do not say how it was made.
      return {}
  }
}

/**
 * The plan of a subscription, by the id that people gave to its price. In a product catalogue of version 1 the subscription itself
 * has `plan_id`.
 */
export function planOf(subscription: unknown): string | null {
  const items = fieldAt(subscription, 'subscription_items')
  const plan = Array.isArray(items) ? items.find(item => fieldAt(item, 'item_type') === 'plan') : undefined
  return textAt(plan, 'item_price_id') ?? textAt(subscription, 'plan_id')
}

/** The customer of an object. Objects have only the id. */
export function customerOf({ event }: BillerContext, id: unknown): Customer {
  return {
    id: isProviderId(id) ? id : null,
    name: event?.customer?.name ?? null,
    email: event?.customer?.email ?? null,
  }
}

/** The destination of a refund. The event has the customer's present card, which may be another card than the refunded one. */
export function destinationOf({ event }: BillerContext, method: string | null, last4: string | null): string | null {
  if (last4 === null) return readable(method)
  const brand = event?.card.last4 === last4 ? event.card.card_type : null
  return `${readable(brand ?? method ?? 'card')} ${last4}`
}

/** The name of a site: its part of the host name. */
const SITE = /^[a-z0-9-]{1,63}$/i

/** Test and live data are in separate sites, and the name of a test site ends with -test. */
export function modeOf({ site }: SightingContext): SightingDetails['mode'] | null {
  return site === null ? null : site.endsWith('-test') ? 'test' : 'live'
}

/** The page of an object in the site's dashboard. */
export function pageOf({ site }: SightingContext, kind: 'subscriptions' | 'transactions', id: string): string | null {
  return site !== null && SITE.test(site) ? dashboardPage(`https://${site}.chargebee.com/d/${kind}`, id) : null
}
