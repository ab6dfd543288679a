import { containsEmailAddress, type Operation } from '@backstop/contracts'
import type { ActionRecord } from '../case/action-record.ts'
import { refundIdsOf } from '../case/sides.ts'

/**
 * The provider's id that the subject of an operation contradicts; null if there is none. Software may name a refund by
 * any object that it belongs to: its payment, charge, subscription, invoice or customer, or the refund itself. Only ids
 * of one type can contradict each other, because the provider does not show all of these objects.
 */
export function contradictedTarget(operation: Operation, action: ActionRecord): string | null {
  const { provider, subject, provider_ref } = operation
  // If no side is from the operation's provider, the ids cannot be compared yet.
  if (action.sides.length > 0 && action.sides.every(side => side.provider !== provider)) return null
  const names = [...action.objectIds, ...refundIdsOf(action)]
  if (names.includes(subject)) return null
  // A customer may have several subscriptions, so only the subscription's own names are right.
  if (action.kind === 'cancellation') return names.includes(provider_ref ?? '') ? null : action.subject
  const customers = customerIdsOf(action)
  if (customers.includes(subject)) return null
  // Merchants choose ids at the biller, so an id does not show its type. One with an e-mail address may be that of a
  // customer whose data was erased.
  if (provider === 'subscription')
    return action.objectIds.length === 0 || containsEmailAddress(subject) ? null : action.subject
  const type = typeOf(subject)
  return type === undefined ? null : ([...names, ...customers].find(name => typeOf(name) === type) ?? null)
}

function customerIdsOf({ sides, details }: ActionRecord): string[] {
  return [...sides.map(side => side.details), details].flatMap(known => known?.['customer.id']?.[0] ?? [])
}

/** The processor's charges and refunds of some payment methods have ids of another form. */
const OTHER_PREFIXES: Readonly<Record<string, string>> = { py: 'ch', pyr: 're' }

/** The type of an id of the processor or the reseller, e.g. `pi` of `pi_1`; undefined if it has none. */
function typeOf(id: string): string | undefined {
  const prefix = /^([a-z]+)_/.exec(id)?.[1]
  return prefix === undefined ? undefined : (OTHER_PREFIXES[prefix] ?? prefix)
}
