import { ProviderId } from '@backstop/contracts'
import { z } from 'zod'
import { customerIn, detailsOf, shownText, textAt } from '../../details.ts'
import { Detail, helpful, Id, nameObject, type ObjectMeaning, reading, UnixTime } from '../../object-fields.ts'
import type { CancellationState, EndCause, ObservedSubscription, PauseState } from '../../sighting.ts'
import { type ProcessorContext, withKey } from './context.ts'
import { originOf, placeOf } from './details.ts'

/** The fields that decide the state of a subscription. */
const StateFields = z.object({
  status: z.string(),
  cancel_at: UnixTime.nullish(),
  cancel_at_period_end: z.boolean().nullish(),
  pause_collection: z.looseObject({}).nullish(),
})
type StateFields = z.infer<typeof StateFields>

export const Subscription = StateFields.extend({
  id: ProviderId,
  object: z.literal('subscription'),
  canceled_at: helpful(UnixTime),
  ended_at: helpful(UnixTime),
  trial_end: helpful(UnixTime),
  trial_settings: helpful(z.object({ end_behavior: z.object({ missing_payment_method: helpful(z.string()) }) })),
  default_payment_method: helpful(Id),
  default_source: helpful(Id),
  cancellation_details: helpful(z.object({ reason: helpful(z.string()), feedback: Detail })),
  /** The schedule that manages the subscription; null if there is none. */
  schedule: Id.nullish().catch(undefined),
  status_details: helpful(z.object({ paused: z.object({ transitioned_at: UnixTime }) })),
  /** The end of the period. Since API version 2025-03-31 only the items have it. */
  current_period_end: helpful(UnixTime),
  items: helpful(z.object({ data: z.array(z.object({ current_period_end: helpful(UnixTime), price: Detail })) })),
  livemode: Detail,
  customer: Detail,
  latest_invoice: Detail,
})
type Subscription = z.infer<typeof Subscription>

const CANCELLATION_FIELDS = ['status', 'cancel_at', 'cancel_at_period_end']
const PAUSE_FIELDS = ['status', 'pause_collection']

/** Normalises a subscription. */
export const meaningOfSubscription: ObjectMeaning<ProcessorContext> = (context, object) =>
  reading('subscription', Subscription, object, subscription => {
    if (context.shownAt === null) return { kind: 'malformed', reason: 'created: The event says no time' }
    const naming = nameObject(context, 'processor', 'subscription', subscription.id, [subscription.id])
    const before = phasesBefore(context.previous, object)
    const cancellation = cancellationOf(subscription, context.by)
    // A request and its key belong to the cancellation only if the request changed the end.
    const isAboutEnd =
      context.previous === null ||
      (before?.cancellation ?? cancellation.phase) !== cancellation.phase ||
      endBefore(context.previous, object) > (cancellation.effectiveAt ?? 0)
    const keyed = isAboutEnd ? context : { ...context, idempotencyKey: null, requestId: null }
    const sighting: ObservedSubscription = {
      kind: 'subscription',
      ...naming,
      refs: withKey(keyed, naming.refs),
      asOf: context.shownAt,
      cancellation,
      pause: pauseOf(subscription),
      before,
      ...(subscription.schedule === undefined
        ? {}
        : { source: { kind: 'subscription', scheduleId: subscription.schedule } }),
      idempotencyKey: keyed.idempotencyKey,
      ...(keyed.requestId === null ? {} : { requestId: keyed.requestId }),
      ...subscriptionDetails(keyed, subscription, cancellation),
    }
    return { kind: 'observed', sightings: [sighting] }
  })

/**
 * The details of a subscription. The origin is that of the request which ends it, or of the processor if it ends it by itself. The
 * event by which a requested end takes effect has no origin, because another event has the request.
 */
function subscriptionDetails(
  context: ProcessorContext,
  subscription: Subscription,
  { phase, cause }: CancellationState,
) {
  return detailsOf({
    origin: phase === 'none' ? undefined : originOf(context, cause !== 'requested'),
    customer: customerIn(subscription.customer),
    payment: {
      // Present if the invoice is expanded.
      number: textAt(subscription.latest_invoice, 'number'),
      plan: planOf(subscription),
      refund_reason: phase === 'none' ? null : reasonOf(subscription),
    },
    ...placeOf(context, subscription.livemode, 'subscriptions', subscription.id),
  })
}

/** The product has a name if it is expanded. The nickname is "hidden from customers", and people of the account know it. */
function planOf({ items }: Subscription): string | null {
  const price = items?.data[0]?.price
  return textAt(price, 'product', 'name') ?? textAt(price, 'nickname') ?? textAt(price, 'lookup_key')
}

/** The reason of the end. The customer's own reason in `feedback` says more than the reason "cancellation_requested". */
function reasonOf({ cancellation_details: given }: Subscription): string | null {
  return shownText(given?.feedback) ?? shownText(given?.reason)
}

function cancellationOf(subscription: Subscription, by: ProcessorContext['by']): CancellationState {
  const phase = cancellationPhase(subscription)
  if (phase === 'none') return { phase, requestedAt: null, effectiveAt: null, cause: 'requested', detail: null }
  const reason = subscription.cancellation_details?.reason ?? null
  const cause = causeOf(subscription, by)
  return {
    phase,
    // The processor sets canceled_at at the request and keeps it when the end takes effect.
    requestedAt: subscription.canceled_at,
    effectiveAt:
      subscription.ended_at ?? subscription.cancel_at ?? (phase === 'scheduled' ? periodEnd(subscription) : null),
    cause,
    detail: cause === 'never_began' ? subscription.status : reason,
  }
}

/**
 * The phase of the cancellation. Each of two fields schedules an end: the customer portal sets only `cancel_at` with flexible
 * billing, the dashboard and the API may set only `cancel_at_period_end`.
 */
function cancellationPhase(fields: StateFields): CancellationState['phase'] {
  if (fields.status === 'canceled' || fields.status === 'incomplete_expired') return 'executed'
  return fields.cancel_at_period_end === true || typeof fields.cancel_at === 'number' ? 'scheduled' : 'none'
}

/** The cause of an end, from status and reason, which only the processor sets. Callers can set only comment and feedback. */
function causeOf(subscription: Subscription, by: ProcessorContext['by']): EndCause {
  if (subscription.status === 'incomplete_expired') return 'never_began'
  switch (subscription.cancellation_details?.reason) {
    case 'payment_failed':
      return 'involuntary'
    case 'payment_disputed':
      return 'payment_disputed'
    case 'canceled_by_retention_policy':
      return 'retention_policy'
    default:
      return by !== 'request' && isEndOfUnpaidTrial(subscription) ? 'no_payment_method' : 'requested'
  }
}

/** The longest time in milliseconds from the end of a trial to the end of its subscription. */
const TRIAL_ENDS_WITHIN_MS = 3_600_000

/**
 * True if the processor ended the subscription with its trial, because there was no payment method. An end that somebody
 * requested earlier has the time of the request.
 */
function isEndOfUnpaidTrial(subscription: Subscription): boolean {
  const { status, trial_end: trialEnd, ended_at: endedAt, canceled_at: canceledAt } = subscription
  if (status !== 'canceled' || trialEnd === null || endedAt === null) return false
  const isOfTrial = (at: number) => at >= trialEnd && at - trialEnd <= TRIAL_ENDS_WITHIN_MS
  return (
    subscription.trial_settings?.end_behavior.missing_payment_method === 'cancel' &&
    subscription.default_payment_method === null &&
    subscription.default_source === null &&
    isOfTrial(endedAt) &&
    isOfTrial(canceledAt ?? endedAt)
  )
}

function periodEnd(subscription: Subscription): number | null {
  const ends = (subscription.items?.data ?? []).flatMap(item => item.current_period_end ?? [])
  return ends.length === 0 ? subscription.current_period_end : Math.max(...ends)
}

function pauseOf(subscription: Subscription): PauseState {
  return { phase: pausePhase(subscription), effectiveAt: subscription.status_details?.paused.transitioned_at ?? null }
}

/** The phase of the pause. `pause_collection` pauses collection, the status `paused` pauses the service. */
function pausePhase(fields: StateFields): PauseState['phase'] {
  return fields.status === 'paused' || (fields.pause_collection ?? null) !== null ? 'paused' : 'none'
}

/** The scheduled end before an update, in milliseconds since the epoch; -Infinity if there was none. */
function endBefore(previous: Readonly<Record<string, unknown>>, object: Readonly<Record<string, unknown>>): number {
  const known = Subscription.safeParse({ ...object, ...previous })
  return known.success ? (cancellationOf(known.data, null).effectiveAt ?? -Infinity) : -Infinity
}

/** The phases before an update. Null for a phase whose fields the update did not change. */
function phasesBefore(
  previous: ProcessorContext['previous'],
  object: Readonly<Record<string, unknown>>,
): ObservedSubscription['before'] {
  if (previous === null) return null
  const fields = StateFields.safeParse({ ...object, ...previous })
  if (!fields.success) return null
  const hasAny = (wanted: readonly string[]) => wanted.some(field => Object.hasOwn(previous, field))
  const cancellation = hasAny(CANCELLATION_FIELDS) ? cancellationPhase(fields.data) : null
  const pause = hasAny(PAUSE_FIELDS) ? pausePhase(fields.data) : null
  return cancellation === null && pause === null ? null : { cancellation, pause }
}
