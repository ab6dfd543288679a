import type { Origin } from '@backstop/contracts'
import type { SightingDetails } from '@backstop/providers'
import type { ActionRecord } from '../src/case/action-record.ts'
import { showDetails } from '../src/case/details.ts'
import { detailsOf } from '../src/case/sides.ts'

/** Details of sightings, as normalisers return them. */

export const NO_ORIGIN: Origin = { channel: null, key_name: null, user: null, request_id: null, idempotency_key: null }

export function madeBy(origin: Partial<Origin>): SightingDetails {
  return { origin: { ...NO_ORIGIN, ...origin } }
}

export function ofCustomer(name: string, email: string | null = null): SightingDetails {
  return { customer: { id: null, name, email } }
}

export function because(refund_reason: string): SightingDetails {
  return { payment: { number: null, plan: null, refund_reason, destination: null } }
}

/** The details of a record, as its action shows them. */
export function shownDetails(record: ActionRecord | undefined) {
  return record === undefined ? undefined : showDetails(detailsOf(record))
}
