import type { NewOperation, Operation } from '@backstop/contracts'
import { isReachable } from './transition.ts'

export type Agreement =
  | { readonly kind: 'agrees' }
  | { readonly kind: 'differs'; readonly field: keyof NewOperation & string }

/**
 * Whether a report under a known idempotency key is the same report again. What the stored operation learned since then
 * (its later states, its provider_ref) is no difference; what the repeat says beyond the stored operation is one.
 */
export function compareReport(stored: Operation, reported: NewOperation): Agreement {
  if (reported.kind !== stored.kind) return differs('kind')
  if (reported.subject !== stored.subject) return differs('subject')
  if ((reported.amount ?? null) !== stored.amount) return differs('amount')
  if ((reported.currency ?? null) !== stored.currency) return differs('currency')
  if ((reported.run_id ?? null) !== stored.run_id) return differs('run_id')
  if (reported.provider_ref !== undefined && reported.provider_ref !== stored.provider_ref) {
    return differs('provider_ref')
  }
  if (!isReachable(reported.state, stored.state)) return differs('state')
  if (!isSameTime(reported.executing_at, stored.executing_at)) return differs('executing_at')
  if (!isSameTime(reported.ended_at, stored.ended_at)) return differs('ended_at')
  return { kind: 'agrees' }
}

/** A time that was left out was set by us, and says nothing. */
function isSameTime(reported: string | undefined, stored: string | null): boolean {
  return reported === undefined || (stored !== null && Date.parse(reported) === Date.parse(stored))
}

function differs(field: keyof NewOperation & string): Agreement {
  return { kind: 'differs', field }
}
