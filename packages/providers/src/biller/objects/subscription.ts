import { ProviderId } from '@backstop/contracts'
import { z } from 'zod'
import { detailsOf, shownText } from '../../details.ts'
import { Detail, helpful, nameObject, type ObjectMeaning, reading, Text, UnixTime } from '../../object-fields.ts'
import type { CancellationState, EndCause, ObservedSubscription, PauseState } from '../../sighting.ts'
import { type BillerContext, customerOf, modeOf, pageOf, planOf } from './details.ts'
import { Version, versionOf } from './version.ts'

export const Subscription = Version.extend({
  id: ProviderId,
  status: Text,
  /** The time of the cancellation, in the past or the future. */
  cancelled_at: UnixTime.nullish(),
  /** The provider's reason. The reason that a person gives is in `cancel_reason_code`. */
  cancel_reason: helpful(Text),
  cancel_reason_code: helpful(Text),
  cancel_schedule_created_at: helpful(UnixTime),
  current_term_end: helpful(UnixTime),
  remaining_billing_cycles: helpful(z.int()),
  pause_date: UnixTime.nullish(),
  deleted: helpful(z.boolean()),
  customer_id: Detail,
  plan_id: Detail,
  subscription_items: Detail,
})
type Subscription = z.infer<typeof Subscription>

/** Normalises a subscription. */
export const meaningOfSubscription: ObjectMeaning<BillerContext> = (context, object) =>
  reading('subscription', Subscription, object, subscription => {
    const asOf = versionOf(subscription) ?? context.shownAt
    if (asOf === null) return { kind: 'malformed', reason: 'subscription.updated_at: No time is given' }
    const request = context.event?.creation?.isRequest === true ? context.event.creation : null
    const cancellation = cancellationOf(subscription, asOf, request !== null)
    const isRequested = cancellation.phase !== 'none' && cancellation.cause === 'requested'
    const sighting: ObservedSubscription = {
      kind: 'subscription',
      ...nameObject(context, 'subscription', 'subscription', subscription.id, [subscription.id]),
      asOf,
      cancellation,
      ...(request !== null && isRequested ? { requestReportedAt: request.at } : {}),
      pause: pauseOf(subscription, asOf),
      before: null,
      idempotencyKey: null,
      ...subscriptionDetails(context, subscription, cancellation),
    }
    return { kind: 'observed', sightings: [sighting] }
  })

function subscriptionDetails(context: BillerContext, subscription: Subscription, cancellation: CancellationState) {
  const isEnding = cancellation.phase !== 'none'
  return detailsOf({
    origin: isEnding ? originOf(context, subscription, cancellation) : undefined,
    customer: customerOf(context, subscription.customer_id),
    payment: {
      plan: planOf(subscription),
      refund_reason: isEnding ? shownText(subscription.cancel_reason_code ?? subscription.cancel_reason) : null,
    },
    mode: modeOf(context),
    dashboardUrl: pageOf(context, 'subscriptions', subscription.id),
  })
}

/**
 * The origin of the end. The event by which a scheduled end takes effect has no origin, because another event has the person who
 * scheduled it.
 */
function originOf(
  { event }: BillerContext,
  { cancel_schedule_created_at }: Subscription,
  { cause }: CancellationState,
) {
  // Only the biller sets these causes.
  if (cause !== 'requested') return { channel: 'automatic' } as const
  const origin = event?.origin ?? undefined
  const isExecution = origin?.channel === 'automatic' && cancel_schedule_created_at !== null
  return isExecution ? undefined : origin
}

/**
 * The cause of an end by the biller's `cancel_reason`, which no request can set. An undocumented reason is treated as a request,
 * so that the end alerts.
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

/** @param isRequested true if the event of the object proves that somebody ended the subscription, or set its end */
function cancellationOf(subscription: Subscription, asOf: number, isRequested: boolean): CancellationState {
  const endsWithPlan = !isRequested && isPlanEnd(subscription)
  const phase = cancellationPhase(subscription, asOf, endsWithPlan)
  if (phase === 'none') {
    const isLastTerm = endsWithPlan && subscription.status === 'non_renewing'
    const cause = isLastTerm ? 'plan_end' : 'requested'
    const effectiveAt = isLastTerm ? (subscription.cancelled_at ?? null) : null
    return { phase, requestedAt: null, effectiveAt, cause, detail: null }
  }
  const cancelledAt = subscription.cancelled_at ?? null
  // A deletion ends the subscription at once, also if an end was set for later.
  const isBeforeSetEnd = subscription.deleted === true && cancelledAt !== null && cancelledAt > asOf
  const common = isBeforeSetEnd
    ? { phase, requestedAt: null, effectiveAt: asOf }
    : { phase, requestedAt: subscription.cancel_schedule_created_at, effectiveAt: cancelledAt }
  const { cancel_reason, cancel_reason_code } = subscription
  const cause = cancel_reason === null ? undefined : CAUSES.get(cancel_reason)
  if (cause !== undefined) return { ...common, cause, detail: cancel_reason }
  if (endsWithPlan) return { ...common, cause: 'plan_end', detail: null }
  const isImmediate = phase === 'executed' && common.requestedAt === null && common.effectiveAt !== null
  const detail = cancel_reason ?? cancel_reason_code
  return { ...common, ...(isImmediate ? { isImmediate } : {}), cause: 'requested', detail }
}

/**
 * The phase of the cancellation. A subscription in its last term does not renew, but that is no cancellation. A cancellation that
 * somebody adds must be found.
 */
function cancellationPhase(
  subscription: Subscription,
  asOf: number,
  endsWithPlan: boolean,
): CancellationState['phase'] {
  const { status, cancelled_at } = subscription
  // A deleted subscription has ended, with any status.
  if (status === 'cancelled' || subscription.deleted === true) return 'executed'
  if (status === 'non_renewing') return endsWithPlan ? 'none' : 'scheduled'
  // A trial with a scheduled end keeps its status. A time in the past is from an end before a reactivation.
  return typeof cancelled_at === 'number' && cancelled_at > asOf ? 'scheduled' : 'none'
}

/**
 * True if the subscription ended or will end with its last term, without a schedule or a cause of the provider. Older sites show an end
 * that somebody sets in the same way; then only its event says so.
 */
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
