import { type Action, HIDDEN, type Names } from '@backstop/contracts'
import type { AlertTexts } from './alert-description.ts'
import { factOfOrigin } from './origin-text.ts'
import { capitalise, factsIn, formatTime, nameAccount, nounOfSubject } from './wording.ts'

export function isTest({ mode }: Action): boolean {
  return mode === 'test'
}

/**
 * What a person needs to know about an action, the most important first. A fact that the provider does not report is left
 * out, unless a person would look for it.
 */
export function factsOfAction(action: Action, names: Names | undefined): AlertTexts['facts'] {
  const { payment, kind } = action
  return factsIn([
    ['Customer', nameCustomer(action)],
    [capitalise(nounOfSubject(kind)), nameSubject(action)],
    ['Plan', payment?.plan],
    ['How', factOfOrigin(action)],
    ['When', formatTime(action.provider_created_at)],
    ['Account', nameAccount(action.provider, names, action.connection_id)],
    ['Connected account', action.account],
    ['Mode', nameMode(action.mode)],
    ['Reason given', payment?.refund_reason == null ? null : capitalise(payment.refund_reason.replaceAll('_', ' '))],
    ['Money goes to', action.authorization_released ? null : nameDestination(payment?.destination ?? null)],
    ['Similar report', describeClosest(action)],
  ])
}

/** Says whether an action moved real money; null if the provider does not say it. */
export function nameMode(mode: Action['mode'] | null): string | null {
  if (mode === 'test') return 'Test: no real money'
  return mode === 'live' ? 'Live: real money' : null
}

/** The name and e-mail address are absent in channels that do not show personal data. */
function nameCustomer({ customer }: Action): string {
  const parts = [customer?.name, customer?.email].filter(part => part != null)
  if (parts.length > 0) return parts.join(', ')
  if (customer?.id === HIDDEN) return 'The name is not shown here'
  return customer?.id == null ? 'The provider does not say' : `${customer.id} (the name is not shown here)`
}

/** The number that people know, or the id if the provider has no number. */
function nameSubject({ kind, payment, subject }: Action): string {
  if (payment?.number == null) return subject
  return kind === 'refund' ? payment.number : `${subject}, last invoice ${payment.number}`
}

/** Names a card as people do: "Visa ending in 4242". */
function nameDestination(destination: string | null): string | null {
  return destination === null ? null : capitalise(destination.replace(/ (?=\d{4}$)/, ' ending in '))
}

/** The report of the software that is most similar, and how it differs. */
function describeClosest({ why, operation_id }: Action): string | null {
  return operation_id === null ? (why?.closest?.text ?? null) : null
}

/** The page of the provider's dashboard. Anything but an https URL could be a trap, because the provider's data is external. */
export function providerUrlOf({ links }: Pick<Action, 'links'>): string | null {
  const url = links?.provider
  return url != null && /^https:\/\/[^\s"'<>\\|]+$/.test(url) ? url : null
}
