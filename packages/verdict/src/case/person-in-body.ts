import type { ErasedPerson } from '@backstop/contracts'
import type { Provider } from '@backstop/providers'
import { isAddressIn, isAddressInText } from './email-in-text.ts'

type Fields = Readonly<Record<string, unknown>>

/** A value in a body, with the object that it is a field of. */
interface Place {
  readonly value: unknown
  readonly key: string
  readonly of: Fields
}

/**
 * True if a field of the body shows the customer's id or e-mail address. The text of a body that is no JSON is searched for the address.
 * @param person the address is in lower case
 * @param requester where the provider names who of the team made the request; this person is not meant
 */
export function isPersonInBody(body: string, person: ErasedPerson, requester: Provider['requesterFields']): boolean {
  const content = parsed(body)
  const { customer_id: id, email } = person
  if (typeof content === 'string') return email !== null && isAddressInText(content, email)
  const isRequester = ({ key, of }: Place) =>
    requester.names.includes(key) && (requester.within === 'body' || of === content)
  // A loop, because a body may be nested more deeply than functions can be.
  const pending: Place[] = [{ value: content, key: '', of: {} }]
  for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
    if (isRequester(place)) continue
    const value = parsed(place.value)
    if (typeof value === 'string' && email !== null && isAddressIn(value, email)) return true
    if (typeof value !== 'object' || value === null) continue
    const fields = value as Fields
    if (id !== null && idsIn({ ...place, value: fields }).includes(id)) return true
    for (const [key, inner] of Object.entries(fields)) pending.push({ value: inner, key, of: fields })
  }
  return false
}

/** The ids of customers that an object shows. */
function idsIn({ value, key, of }: Place & { readonly value: Fields }): unknown[] {
  const isCustomer =
    key === 'customer' || value.object === 'customer' || (key === 'data' && /^customer\./.test(String(of.event_type)))
  return [value.customer, value.customer_id, ...(isCustomer ? [value.id] : [])]
}

/** The value of a text that is JSON; otherwise the value itself. */
function parsed(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[{["]/.test(value)) return value
  try {
    return parsed(JSON.parse(value))
  } catch {
    return value
  }
}
