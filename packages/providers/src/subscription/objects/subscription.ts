import { ProviderId } from '@backstop/contracts'
import { z } from 'zod'
import { helpful, nameObject, type ObjectMeaning, reading, UnixTime } from '../../object-fields.ts'
import type { CancellationState, EndCause, ObservedSubscription, PauseState } from '../../sighting.ts'
import { Version, versionOf } from './version.ts'

const Subscription = Version.extend({
  id: ProviderId,
  status: z.string().min(1),
  /** When it was cancelled, or will be. */
  cancelled_at: UnixTime.nullish(),
  /** Only the provider sets it; a person's reason is in `cancel_reason_code`. */
  cancel_reason: helpful(z.string().min(1)),
  cancel_reason_code: helpful(z.string().min(1)),
  cancel_schedule_created_at: helpful(UnixTime),
  current_term_end: helpful(UnixTime),
  remaining_billing_cycles: helpful(z.int()),
  pause_date: UnixTime.nullish(),
  deleted: helpful(z.boolean()),
})
type Subscription = z.infer<typeof Subscription>

/** Normalises a subscription. */
export const meaningOfSubscription: ObjectMeaning = (context, object) =>
  reading('subscription', Subscription, object, subscription => {
    const asOf = versionOf(subscription) ?? context.shownAt
    if (asOf === null) return { kind: 'malformed', reason: 'subscription.updated_at: No time is given' }
    const sighting: ObservedSubscription = {
      kind: 'subscription',
      ...nameObject(context, 'subscription', 'subscription', subscription.id, [subscription.id]),
      asOf,
      cancellation: cancellationOf(subscription, asOf),
      pause: pauseOf(subscription, asOf),
      before: null,
      idempotencyKey: null,
    }
    return { kind: 'observed', sightings: [sighting] }
  })

/**
 * The causes that only the biller sets: no request has `cancel_reason`. An undocumented word counts as a request, so that the
 * end alerts.
 */
const CAUSES: ReadonlyMap<string, EndCause> = new Map([
  ['not_paid', 'involuntary'],
  ['no_card', 'no_payment_method'],
  ['fraud_review_failed', 'not_billable'],
  ['non_compliant_eu_customer', 'not_billable'],
  ['non_compliant_customer', 'not_billable'],
  ['tax_calculation_failed', 'not_billable'],
  ['currency_incompatible_with_gateway', 'not_billable'],
])

function cancellationOf(subscription: Subscription, asOf: number): CancellationState {
  const phase = cancellationPhase(subscription, asOf)
  if (phase === 'none') return { phase, requestedAt: null, effectiveAt: null, cause: 'requested', detail: null }
  const common = {
    phase,
    requestedAt: subscription.cancel_schedule_created_at,
    effectiveAt: subscription.cancelled_at ?? null,
  }
  const { cancel_reason, cancel_reason_code } = subscription
  const cause = cancel_reason === null ? undefined : CAUSES.get(cancel_reason)
  if (cause !== undefined) return { ...common, cause, detail: cancel_reason }
  if (isPlanEnd(subscription)) return { ...common, cause: 'plan_end', detail: null }
  const isImmediate = phase === 'executed' && common.requestedAt === null && common.effectiveAt !== null
  const detail = cancel_reason ?? cancel_reason_code
  return { ...common, ...(isImmediate ? { isImmediate } : {}), cause: 'requested', detail }
}

/**
 * A subscription in its last term does not renew, and is not cancelled: it runs as agreed. A cancellation that somebody adds
 * must show as one.
 */
function cancellationPhase(subscription: Subscription, asOf: number): CancellationState['phase'] {
  const { status, cancelled_at } = subscription
  // A deleted subscription has ended as well.
  if (status === 'cancelled' || subscription.deleted === true) return 'executed'
  if (status === 'non_renewing') return isPlanEnd(subscription) ? 'none' : 'scheduled'
  // A trial with a scheduled end keeps its status. A time in the past remains from an end before a reactivation.
  return typeof cancelled_at === 'number' && cancelled_at > asOf ? 'scheduled' : 'none'
}

/** Whether the end is that of the last term, without a request, a schedule or a cause of the provider. */
function isPlanEnd(subscription: Subscription): boolean {
  const { cancelled_at, current_term_end } = subscription
  const endsWithTerm = typeof cancelled_at !== 'number' || current_term_end === null || cancelled_at >= current_term_end
  return (
    subscription.remaining_billing_cycles === 0 &&
    subscription.cancel_schedule_created_at === null &&
    subscription.cancel_reason === null &&
    subscription.cancel_reason_code === null &&
    subscription.deleted !== true &&
    endsWithTerm
  )
}

function pauseOf(subscription: Subscription, asOf: number): PauseState {
  const effectiveAt = subscription.pause_date ?? null
  if (subscription.status === 'paused') return { phase: 'paused', effectiveAt }
  const isAhead = effectiveAt !== null && effectiveAt > asOf && subscription.status !== 'cancelled'
  return isAhead ? { phase: 'scheduled', effectiveAt } : { phase: 'none', effectiveAt: null }
}
