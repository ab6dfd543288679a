import type { Alert, ErasedPerson } from '@backstop/contracts'

/** A customer who is erased. */
export interface ErasedCustomer {
  /** Ids at the providers, without those that contain an e-mail address. */
  readonly ids: readonly string[]
  /** How the request names the customer; null if it does not any more, because the erasure is done. */
  readonly person: ErasedPerson | null
}

/** True if the alert is a report of a storm or a burst that names this customer as common to its actions. */
export function namesCustomer({ data }: Alert, { ids, person }: ErasedCustomer): boolean {
  const common = 'storm' in data ? data.storm.common : 'incident' in data ? data.incident.burst?.common : undefined
  if (common?.customer == null) return false
  const { id, name, email } = common.customer.value
  if (id !== null && (ids.includes(id) || id === person?.customer_id)) return true
  return person?.email != null && [id, name, email].some(text => addressesIn(text).includes(person.email ?? ''))
}

/** The words of a text in lower case. Separators are what stands around an address: `Ann <ann@shop.example>`. */
function addressesIn(text: string | null): readonly string[] {
  return text === null ? [] : text.toLowerCase().split(/[\s<>()",;:]+/)
}
