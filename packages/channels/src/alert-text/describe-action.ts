import { type Action, HIDDEN, type Names } from '@backstop/contracts'
import type { AlertTexts } from './alert-description.ts'
import { factOfOrigin } from './origin-text.ts'
import { timeWithAge } from './times.ts'
import { capitalise, factsIn, nounOfSubject, titleWith } from './wording.ts'

export function isTest({ mode }: Action): boolean {
  return mode === 'test'
}

/** The facts in a message: when, which payment or subscription, and how it was made. The title has amount, customer and account; the console has the rest. */
export function factsOfAction(action: Action, nowMs: number): AlertTexts['facts'] {
  return factsIn([
    ...factsOfSubject(action, nowMs).map(({ label, value }) => [label, value] as const),
    ['How', factOfOrigin(action)],
  ])
}

/** Which payment or subscription, and when. */
export function factsOfSubject(action: Action, nowMs: number): AlertTexts['facts'] {
  return factsIn([
    ['When', timeWithAge(action.provider_created_at, nowMs)],
    [capitalise(nounOfSubject(action.kind)), nameSubject(action)],
  ])
}

/** The title of an alert about an action. */
export function titleOfAction(title: string, action: Action, names: Names | undefined): string {
  return titleWith(isTest(action) ? `[Test mode] ${title}` : title, nameCustomer(action), nameAccount(action, names))
}

/** The name and e-mail address are absent in channels that do not show personal data. */
function nameCustomer({ customer }: Action): string | null {
  const name = customer?.name ?? customer?.email ?? customer?.id ?? null
  return name === HIDDEN ? null : name
}

function nameAccount({ account }: Action, names: Names | undefined): string | null {
  const connection = names?.connection ?? null
  if (account === undefined) return connection
  return connection === null ? account : `${connection} (${account})`
}

/** The number that people know, or the id if the provider has no number. */
function nameSubject({ kind, payment, subject }: Action): string {
  if (payment?.number == null) return subject
  return kind === 'refund' ? payment.number : `${subject}, last invoice ${payment.number}`
}

/** The page of the provider's dashboard. Anything but an https URL could be a trap, because the provider's data is external. */
export function providerUrlOf({ links }: Pick<Action, 'links'>): string | null {
  const url = links?.provider
  return url != null && /^https:\/\/[^\s"'<>\\|]+$/.test(url) ? url : null
}
