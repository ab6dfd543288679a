import { ProviderId } from '@backstop/contracts'
import { z } from 'zod'
import { helpful, Id, nameObject, type ObjectMeaning, reading, UnixTime } from '../../object-fields.ts'
import type { CancellationState, EndCause, ObservedSubscription, PauseState } from '../../observation.ts'
import { type ProcessorTelling, withKey } from './telling.ts'

/** The fields that say where a subscription stands. */
const Standing = z.object({
  status: z.string(),
  cancel_at: UnixTime.nullish(),
  cancel_at_period_end: z.boolean().nullish(),
  pause_collection: z.looseObject({}).nullish(),
})
type Standing = z.infer<typeof Standing>

const Subscription = Standing.extend({
  id: ProviderId,
  object: z.literal('subscription'),
  canceled_at: helpful(UnixTime),
  ended_at: helpful(UnixTime),
  cancellation_details: helpful(z.object({ reason: helpful(z.string()) })),
  /** The schedule that manages it; null where none does. */
  schedule: Id.nullish().catch(undefined),
  status_details: helpful(z.object({ paused: z.object({ transitioned_at: UnixTime }) })),
  /** The period stands on the items since API version 2025-03-31, on the subscription before. */
  current_period_end: helpful(UnixTime),
  items: helpful(z.object({ data: z.array(z.object({ current_period_end: helpful(UnixTime) })) })),
})
type Subscription = z.infer<typeof Subscription>

const CANCELLATION_FIELDS = ['status', 'cancel_at', 'cancel_at_period_end']
const PAUSE_FIELDS = ['status', 'pause_collection']

export const meaningOfSubscription: ObjectMeaning<ProcessorTelling> = (telling, object) =>
  reading('subscription', Subscription, object, subscription => {
    if (telling.toldAt === null) return { kind: 'malformed', reason: 'created: The event says no time' }
    const naming = nameObject(telling, 'processor', 'subscription', subscription.id, [subscription.id])
    const before = phasesBefore(telling.previous, object)
    const cancellation = cancellationOf(subscription)
    // The key of a request that changed something else must not pass for that of the cancellation.
    const isAboutEnd =
      telling.previous === null ||
      (before?.cancellation ?? cancellation.phase) !== cancellation.phase ||
      endBefore(telling.previous, object) > (cancellation.effectiveAt ?? 0)
    const keyed = isAboutEnd ? telling : { ...telling, idempotencyKey: null }
    const observed: ObservedSubscription = {
      kind: 'subscription',
      ...naming,
      refs: withKey(keyed, naming.refs),
      asOf: telling.toldAt,
      cancellation,
      pause: pauseOf(subscription),
      before,
      ...(subscription.schedule === undefined
        ? {}
        : { source: { kind: 'subscription', scheduleId: subscription.schedule } }),
      idempotencyKey: keyed.idempotencyKey,
    }
    return { kind: 'observed', observations: [observed] }
  })

function cancellationOf(subscription: Subscription): CancellationState {
  const phase = cancellationPhase(subscription)
  if (phase === 'none') return { phase, requestedAt: null, effectiveAt: null, cause: 'requested', detail: null }
  const reason = subscription.cancellation_details?.reason ?? null
  const neverBegan = subscription.status === 'incomplete_expired'
  return {
    phase,
    // Kept from the request until the end is carried out.
    requestedAt: subscription.canceled_at,
    effectiveAt:
      subscription.ended_at ?? subscription.cancel_at ?? (phase === 'scheduled' ? periodEnd(subscription) : null),
    cause: neverBegan ? 'involuntary' : causeOf(reason),
    detail: neverBegan ? subscription.status : reason,
  }
}

/**
 * Either field schedules an end: with flexible billing the customer portal sets `cancel_at` alone, the dashboard and the
 * API may set only `cancel_at_period_end`.
 */
function cancellationPhase(standing: Standing): CancellationState['phase'] {
  if (standing.status === 'canceled' || standing.status === 'incomplete_expired') return 'executed'
  return standing.cancel_at_period_end === true || typeof standing.cancel_at === 'number' ? 'scheduled' : 'none'
}

/** Reasons that nobody gives by asking for the end. */
function causeOf(reason: string | null): EndCause {
  switch (reason) {
    case 'payment_failed':
    case 'payment_disputed':
    case 'canceled_by_retention_policy':
      return 'involuntary'
    default:
      return 'requested'
  }
}

function periodEnd(subscription: Subscription): number | null {
  const ends = (subscription.items?.data ?? []).flatMap(item => item.current_period_end ?? [])
  return ends.length === 0 ? subscription.current_period_end : Math.max(...ends)
}

function pauseOf(subscription: Subscription): PauseState {
  return { phase: pausePhase(subscription), effectiveAt: subscription.status_details?.paused.transitioned_at ?? null }
}

/** Collection is paused by `pause_collection`, the service by the status. */
function pausePhase(standing: Standing): PauseState['phase'] {
  return standing.status === 'paused' || (standing.pause_collection ?? null) !== null ? 'paused' : 'none'
}

/** When the end was to be before an update, in milliseconds since the epoch; -Infinity where none was. */
function endBefore(previous: Readonly<Record<string, unknown>>, object: Readonly<Record<string, unknown>>): number {
  const known = Subscription.safeParse({ ...object, ...previous })
  return known.success ? (cancellationOf(known.data).effectiveAt ?? -Infinity) : -Infinity
}

/** The phases that an update left, where it names a field that makes them up. */
function phasesBefore(
  previous: ProcessorTelling['previous'],
  object: Readonly<Record<string, unknown>>,
): ObservedSubscription['before'] {
  if (previous === null) return null
  const standing = Standing.safeParse({ ...object, ...previous })
  if (!standing.success) return null
  const names = (fields: readonly string[]) => fields.some(field => Object.hasOwn(previous, field))
  const cancellation = names(CANCELLATION_FIELDS) ? cancellationPhase(standing.data) : null
  const pause = names(PAUSE_FIELDS) ? pausePhase(standing.data) : null
  return cancellation === null && pause === null ? null : { cancellation, pause }
}
