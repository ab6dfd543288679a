/**
 * The details that the reseller gives, by the types of @paddle/paddle-node-sdk 3.10.0. Its events and objects say neither how nor by
 * whom they were made, and nothing of the customer except the id: a second look reads the transaction for the name and the number of
 * the invoice. They do not say the mode either: the prefix of the read key does, so only objects that were read have a mode and a page.
 */
import type { Customer } from '@backstop/contracts'
import { customerIn, dashboardPage, textAt } from '../../details.ts'
import { objectAt } from '../../event-fields.ts'
import type { SightingContext } from '../../object-fields.ts'
import type { SightingDetails } from '../../sighting.ts'

/** The inputs of normalisation besides the object. */
export interface ResellerContext extends SightingContext {
  /** Null if unknown. */
  readonly mode: SightingDetails['mode'] | null
}

/** The customer. @param transaction that was read with the object */
export function customerOf(id: unknown, transaction: unknown): Customer | null {
  const known = customerIn(id)
  const included = customerIn(objectAt(transaction, 'customer'))
  return known === null || included === null ? (known ?? included) : { ...included, id: known.id }
}

/** The number of the invoice. @param transaction that was read with the object */
export function numberIn(transaction: unknown): string | null {
  return textAt(transaction, 'invoice_number')
}

/** The page of an object. The sandbox has its own dashboard. */
export function pageOf(
  { mode }: ResellerContext,
  kind: 'transactions-v2' | 'subscriptions-v2',
  id: string | null,
): string | null {
  if (mode === null) return null
  return dashboardPage(`https://${mode === 'test' ? 'sandbox-' : ''}vendors.paddle.com/${kind}`, id)
}
