/**
 * The details that the reseller gives, by the types of @paddle/paddle-node-sdk 3.10.0. Its events and objects say neither how nor by
 * whom they were made, and nothing of the customer except the id. They do not say the mode either: the prefix of the read key does,
 * so only objects that were read have a mode and a page.
 */
import { dashboardPage } from '../../details.ts'
import type { SightingContext } from '../../object-fields.ts'
import type { SightingDetails } from '../../sighting.ts'

/** The inputs of normalisation besides the object. */
export interface ResellerContext extends SightingContext {
  /** Null if unknown. */
  readonly mode: SightingDetails['mode'] | null
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
