import type { Action, Names } from '@backstop/contracts'
import type { AlertTexts } from './alert-description.ts'
import { factOfOrigin } from './origin-text.ts'
import { capitalise, formatTime, lowerFirst, nameAccount, nameAction, nounOfSubject } from './wording.ts'

export function isTest({ mode }: Action): boolean {
  return mode === 'test'
}

/** What a person needs to know about an action. A fact that the provider does not report is left out. */
export function factsOfAction(action: Action, names: Names | undefined): AlertTexts['facts'] {
  const { payment, kind } = action
  const rows: readonly (readonly [label: string, value: string | null | undefined])[] = [
    ['What', capitalise(nameAction(action))],
    ['Live or test', nameMode(action)],
    ['Made by', factOfOrigin(action)],
    ['Made at', formatTime(action.provider_created_at)],
    ['Customer', nameCustomer(action)],
    [capitalise(nounOfSubject(kind)), nameSubject(action)],
    ['Plan', payment?.plan],
    ['Reason given', payment?.refund_reason?.replaceAll('_', ' ')],
    ['Money goes to', payment?.destination],
    ['Account', nameAccount(action.provider, names, action.connection_id)],
    ['Nearest match', describeClosest(action)],
  ]
  return rows.flatMap(([label, value]) => (value == null ? [] : [{ label, value }]))
}

function nameMode({ mode }: Action): string | null {
  if (mode === 'test') return 'TEST MODE: no real money'
  return mode === 'live' ? 'Live: real money' : null
}

/** The name and e-mail address are absent in channels that do not show personal data. */
function nameCustomer({ customer }: Action): string {
  const parts = [customer?.name, customer?.email].filter(part => part != null)
  return parts.length > 0 ? parts.join(', ') : (customer?.id ?? 'The provider does not say')
}

/** The number that people know, or the id if the provider has no number. */
function nameSubject({ kind, payment, subject }: Action): string {
  if (payment?.number == null) return subject
  return kind === 'refund' ? payment.number : `${subject}, last invoice ${payment.number}`
}

/** The operation that fits best, with the one fact that does not match. */
function describeClosest({ why, operation_id, kind }: Action): string | null {
  const closest = why?.closest
  if (closest == null || operation_id !== null) return null
  const noun = nounOfSubject(kind)
  switch (closest.failure) {
    case 'other_subject':
      return `Your software reported a similar ${kind}, but for another ${noun}`
    case 'other_provider_ref':
      return `Your software reported a similar ${kind}, but it was another one`
    case 'explains_another':
    case 'other_operation_fits_better':
      return `Your software reported such a ${kind}, but it belongs to another ${kind} of the same ${noun}`
    default:
      return `Your software reported a similar ${kind}, which does not match: ${lowerFirst(withReadableTimes(closest.text))}`
  }
}

function withReadableTimes(text: string): string {
  return text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, formatTime)
}

/** The page of the provider's dashboard. Anything but an https URL could be a trap, because the provider's data is external. */
export function providerUrlOf({ links }: Pick<Action, 'links'>): string | null {
  const url = links?.provider
  return url != null && /^https:\/\/[^\s"'<>\\|]+$/.test(url) ? url : null
}
