import { containsEmailAddress, type ErasedPerson, type ProviderKind } from '@backstop/contracts'
import type { Provider } from '@backstop/providers'
import { allDetailsOf } from './all-details.ts'
import type { Case } from './case.ts'
import { type KnownDetails, personalFactsOf } from './details.ts'
import { isAddress, isAddressInUrl } from './email-in-text.ts'
import { isPersonInBody } from './person-in-body.ts'

/** Finds the records of one customer, who is named by the id at the provider, the e-mail address, or both. */
export interface PersonMatcher {
  /** In lower case; null if it is not known. */
  readonly email: string | null
  /** True if a field of the raw body of this provider shows the id or the e-mail address of the customer. */
  isIn(body: string, provider: ProviderKind): boolean
  /** True if the details of an object of this provider show the id or the e-mail address of the customer. */
  isShownBy(details: KnownDetails | undefined, provider: ProviderKind): boolean
  /** True if any part of the case shows the id or the e-mail address of the customer. */
  isCustomerOf(theCase: Case): boolean
}

export function createPersonMatcher(
  person: ErasedPerson,
  providers: Readonly<Record<ProviderKind, Pick<Provider, 'requesterFields'>>>,
): PersonMatcher {
  const { email } = person
  /** How the customer is named at this provider: the id may be another customer's elsewhere. */
  const personAt = (at: ProviderKind) => ((person.provider ?? at) === at ? person : { ...person, customer_id: null })
  function isShownBy(details: KnownDetails | undefined, at: ProviderKind): boolean {
    if (details === undefined) return false
    const { customer_id: id } = personAt(at)
    const customer = [details['customer.id'], details['customer.name'], details['customer.email']]
    return (
      (id !== null && details['customer.id']?.[0] === id) ||
      (email !== null &&
        (customer.some(fact => fact !== undefined && isAddress(fact[0], email)) ||
          personalFactsOf(details).some(fact => isAddressInUrl(fact, email))))
    )
  }
  return {
    email,
    isIn: (body, provider) => isPersonInBody(body, personAt(provider), providers[provider].requesterFields),
    isShownBy,
    isCustomerOf: theCase => [...allDetailsOf(theCase)].some(([details, , provider]) => isShownBy(details, provider)),
  }
}

/** The customer's ids at the providers, without those that contain an e-mail address, and of others whom an erasure does not mean. */
export function customerIdsIn(theCase: Case): string[] {
  const ids = [...allDetailsOf(theCase)].flatMap(([details]) => details?.['customer.id']?.[0] ?? [])
  return [...new Set(ids)].filter(id => !containsEmailAddress(id) && theCase.otherCustomers?.includes(id) !== true)
}
