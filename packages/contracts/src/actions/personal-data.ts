import type { ProviderKind } from '../providers.ts'
import type { Customer, Origin, PaymentFacts } from './action-details.ts'

/**
 * Which data about an action is personal data. It is shown only in channels that allow it, and it is erased after its
 * time and with its connection:
 * - the name and the e-mail address of a customer, and the user who made the action,
 * - a reason that a person wrote in their own words,
 * - every other value that contains an e-mail address, for example the name of an API key.
 */

/** The facts that a provider may report about an action. */
export type DetailName =
  | `origin.${keyof Origin}`
  | `customer.${keyof Customer}`
  | `payment.${keyof PaymentFacts}`
  | 'mode'
  | 'account'
  | 'dashboardUrl'

const ALWAYS_PERSONAL: ReadonlySet<DetailName> = new Set<DetailName>(['customer.name', 'customer.email', 'origin.user'])

/** True if a person writes the reason of a refund in their own words. The other providers give one of a fixed list of reasons. */
const HAS_FREE_TEXT_REASONS: Readonly<Record<ProviderKind, boolean>> = {
  processor: false,
  reseller: true,
  subscription: false,
}

/** True if this value of a fact is personal data. */
export function isPersonalDetail(provider: ProviderKind, name: DetailName, value: string): boolean {
  if (ALWAYS_PERSONAL.has(name)) return true
  if (name === 'payment.refund_reason' && HAS_FREE_TEXT_REASONS[provider]) return true
  return containsEmailAddress(value)
}

/** An e-mail address, also as part of a URL. */
const EMAIL_ADDRESS = /[^\s@](?:@|%40)[^\s@.]+\.[^\s@.]/

export function containsEmailAddress(text: string): boolean {
  return (text.includes('@') || text.includes('%40')) && EMAIL_ADDRESS.test(text)
}

/** Replaces a value that a message must not show. */
export const HIDDEN = '(hidden)'

/** The text with `HIDDEN` in place of each word that contains an e-mail address. */
export function hideEmailAddresses(text: string): string {
  if (!containsEmailAddress(text)) return text
  return text
    .split(/(\s+)/)
    .map(word => (containsEmailAddress(word) ? HIDDEN : word))
    .join('')
}
