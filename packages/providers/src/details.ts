/**
 * Reads the details of objects and builds those of sightings. People read details in alerts and no verdict depends on them, so an
 * unusable value is treated as absent and never makes an object malformed. Every event has about ten details, so they are read with
 * plain checks: schemas would make the normalisation of an event two to four times as slow.
 */
import { type Customer, containsEmailAddress, isProviderId, type Origin, type PaymentFacts } from '@backstop/contracts'
import { fieldAt, objectAt } from './event-fields.ts'
import type { SightingDetails, SightingFields } from './sighting.ts'

/** The longest text, in code units. Names, addresses, plans and reasons are shorter. */
const LONGEST_TEXT = 255

/** Control characters, line separators, lone surrogates, and characters that reverse the direction of the text around them. */
const UNSHOWABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u202a-\u202e\u2066-\u2069]/u

/** A text that people are shown, without surrounding spaces. Null if it is empty, too long or has characters that mislead. */
export function shownText(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > LONGEST_TEXT || UNSHOWABLE.test(value)) return null
  return value.trim() || null
}

/** The text at a path of names that people are shown. */
export function textAt(value: unknown, ...path: readonly string[]): string | null {
  return shownText(fieldAt(value, ...path))
}

/** The customer of a field with an id, or with the whole customer if the account expands it. */
export function customerIn(field: unknown): Customer | null {
  if (isProviderId(field)) return { id: field, name: null, email: null }
  const customer = objectAt(field)
  if (customer === undefined) return null
  const id = fieldAt(customer, 'id')
  return { id: isProviderId(id) ? id : null, name: textAt(customer, 'name'), email: textAt(customer, 'email') }
}

const NO_ORIGIN: Origin = { channel: null, key_name: null, user: null, request_id: null, idempotency_key: null }
const NO_FACTS: PaymentFacts = { number: null, plan: null, refund_reason: null, destination: null }

/** The facts of a sighting's details. An absent fact is unknown. */
export interface SightingFacts {
  readonly origin?: Partial<Origin> | undefined
  readonly customer?: Customer | null
  readonly payment?: Partial<PaymentFacts>
  readonly mode?: SightingDetails['mode'] | null
  readonly account?: string | null
  readonly dashboardUrl?: string | null
}

/** The details with the facts that are known. There are no details if no fact is known. */
export function detailsOf({
  origin,
  customer,
  payment,
  mode,
  account,
  dashboardUrl,
}: SightingFacts): Pick<SightingFields, 'details'> {
  const shown = account == null || containsEmailAddress(account) ? null : shownId(account)
  const details: SightingDetails = {
    ...(hasFact(origin) ? { origin: { ...NO_ORIGIN, ...origin } } : {}),
    ...(hasFact(customer) ? { customer: { ...customer, id: shownId(customer.id) } } : {}),
    ...(hasFact(payment) ? { payment: { ...NO_FACTS, ...payment } } : {}),
    ...(mode ? { mode } : {}),
    ...(shown ? { account: shown } : {}),
    ...(dashboardUrl ? { dashboardUrl } : {}),
  }
  return Object.keys(details).length === 0 ? {} : { details }
}

/** An id that people can be shown. Ids of providers may have characters that texts for people must not have. */
function shownId(id: string | null): string | null {
  return id === null || UNSHOWABLE.test(id) ? null : id
}

function hasFact<T extends object>(facts: T | null | undefined): facts is T {
  for (const name in facts) if (facts[name as keyof T] !== null) return true
  return false
}

/** The page of an object in a provider's dashboard. Null if the object has no id that can be in a path. */
export function dashboardPage(base: string, id: string | null | undefined): string | null {
  return isProviderId(id) && id !== '.' && id !== '..' ? `${base}/${encodeURIComponent(id)}` : null
}

/** A word of a provider in the form that people read, e.g. "customer cash balance". */
export function readable(word: string | null): string | null {
  return word === null ? null : word.replaceAll('_', ' ')
}
