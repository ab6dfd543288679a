import { containsEmailAddress, type ErasedPerson } from '@backstop/contracts'
import type { Case } from './case.ts'
import { personalFactsOf } from './details.ts'
import { allDetailsOf } from './personal-data.ts'

/** Finds the records of one customer, who is named by the id at the provider, the e-mail address, or both. */
export interface PersonMatcher {
  /** True if the JSON text contains the id as a whole value, or the e-mail address. */
  isIn(json: string): boolean
  /** True if any part of the case shows the id or the e-mail address of the customer. */
  isCustomerOf(theCase: Case): boolean
}

export function createPersonMatcher({ customer_id: customerId, email }: ErasedPerson): PersonMatcher {
  // In JSON inside of JSON the quotation mark after the value has a backslash.
  const idInJson = customerId === null ? null : new RegExp(`"${escapePattern(quoted(customerId))}\\\\*"`)
  const address = email === null ? null : addressPattern(email)
  const mentions = (text: string) => address?.test(withoutPercentCodes(text)) === true
  return {
    isIn: json => idInJson?.test(json) === true || mentions(json),
    isCustomerOf: theCase =>
      [...allDetailsOf(theCase)].some(
        ([details]) =>
          (customerId !== null && details?.['customer.id']?.[0] === customerId) ||
          personalFactsOf(details).some(mentions),
      ),
  }
}

/** The customer's ids at the providers, without those that contain an e-mail address. */
export function customerIdsIn(theCase: Case): string[] {
  const ids = [...allDetailsOf(theCase)].flatMap(([details]) => details?.['customer.id']?.[0] ?? [])
  return [...new Set(ids)].filter(id => !containsEmailAddress(id))
}

/** The address that is no part of a longer one: `ann@shop.example` is not in `joann@shop.example` or `ann@shop.example.org`. */
function addressPattern(email: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}._+-])${escapePattern(email)}(?![\\p{L}\\p{N}-]|\\.[\\p{L}\\p{N}])`, 'iu')
}

/** An address may be part of a URL: `ann%40shop.example`. */
function withoutPercentCodes(text: string): string {
  return text.replaceAll(/%([2-7][0-9a-f])/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}

function quoted(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}
