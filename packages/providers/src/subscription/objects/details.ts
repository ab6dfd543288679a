/**
 * The details that the biller gives, by the types of chargebee 3.33.0. Only an event says how and by whom its object was made:
 * `source`, `user` (the operator's address for admin_console, the name of the key for api, js_api and bulk_operation) and
 * `origin_user`. The site gives the mode and the address of the dashboard. There is no id of a request, and no idempotency key.
 */
import type { Customer, Origin } from '@backstop/contracts'
import { z } from 'zod'
import { dashboardPage, readable, ShownText } from '../../details.ts'
import { helpful, type SightingContext } from '../../object-fields.ts'
import type { SightingDetails } from '../../sighting.ts'

/** The inputs of normalisation besides the object. */
export interface BillerContext extends SightingContext {
  /** The facts of the event that contained the object. Null for an object that was read alone. */
  readonly event: EventFacts | null
}

/** The facts of an event that its object does not have. */
export interface EventFacts {
  /** Null for an event that creates neither a refund nor an end. */
  readonly origin: Partial<Origin> | null
  readonly customer: Omit<Customer, 'id'> | null
  /** The id of an invoice is the invoice number. */
  readonly invoice: string | null
  readonly plan: string | null
  readonly card: { readonly card_type: string | null; readonly last4: string | null } | null
}

const Address = helpful(z.object({ first_name: ShownText, last_name: ShownText, company: ShownText, email: ShownText }))

/** The items of a subscription. In a product catalogue of version 1 the subscription itself has `plan_id`. */
export const PlanFields = z.object({
  plan_id: ShownText,
  subscription_items: helpful(z.array(z.object({ item_price_id: ShownText, item_type: ShownText }))),
})

const Event = z.object({
  source: ShownText,
  user: ShownText,
  origin_user: ShownText,
  content: helpful(
    z.object({
      customer: helpful(
        z.object({
          first_name: ShownText,
          last_name: ShownText,
          company: ShownText,
          email: ShownText,
          billing_address: Address,
        }),
      ),
      invoice: helpful(z.object({ id: ShownText })),
      subscription: helpful(PlanFields),
      card: helpful(z.object({ card_type: ShownText, last4: ShownText })),
    }),
  ),
})
type Event = z.infer<typeof Event>

/** The facts of an event that was read. @param isCreation true if the event creates a refund or an end */
export function factsOfEvent(event: Readonly<Record<string, unknown>>, isCreation: boolean): EventFacts {
  const parsed = Event.parse(event)
  const { customer, invoice, subscription, card } = parsed.content ?? {}
  const { billing_address } = customer ?? {}
  return {
    origin: isCreation ? originOf(parsed) : null,
    customer: customer
      ? {
          name: nameIn(customer) ?? nameIn(billing_address) ?? customer.company ?? billing_address?.company ?? null,
          email: customer.email ?? billing_address?.email ?? null,
        }
      : null,
    invoice: invoice?.id ?? null,
    plan: subscription ? planOf(subscription) : null,
    card: card ?? null,
  }
}

function nameIn(person: { first_name: string | null; last_name: string | null } | null | undefined): string | null {
  return [person?.first_name, person?.last_name].filter(Boolean).join(' ') || null
}

function originOf({ source, user, origin_user }: Event): Partial<Origin> {
  switch (source) {
    case 'admin_console':
      return { channel: 'dashboard', user }
    case 'api':
    case 'js_api':
    case 'bulk_operation':
      // The caller of the API can set origin_user, so it is what the caller claims.
      return { channel: 'api', key_name: user, user: origin_user }
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

/** The plan of a subscription, by the id that people gave to its price. */
export function planOf({ plan_id, subscription_items }: z.infer<typeof PlanFields>): string | null {
  const items = subscription_items ?? []
  return items.find(item => item.item_type === 'plan')?.item_price_id ?? plan_id
}

/** The customer of an object. Objects have only the id. */
export function customerOf({ event }: BillerContext, id: string | null): Customer {
  return { id, name: event?.customer?.name ?? null, email: event?.customer?.email ?? null }
}

/** The destination of a refund. The event has the customer's present card, which may be another card than the refunded one. */
export function destinationOf({ event }: BillerContext, method: string | null, last4: string | null): string | null {
  if (last4 === null) return readable(method)
  const brand = event?.card?.last4 === last4 ? event.card.card_type : null
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
