import { ProviderId } from '@backstop/contracts'
import { z } from 'zod'
import { helpful, Id, type Meaning, nameObject, type ObjectMeaning, reading, UnixTime } from '../../object-fields.ts'
import type { CancellationState, ObservedSubscription } from '../../sighting.ts'
import { type ProcessorContext, withKey } from './context.ts'

/** The fields that decide whether and when a schedule ends its subscription. */
const Standing = z.object({
  status: z.string(),
  end_behavior: z.string(),
  phases: helpful(z.array(z.object({ end_date: helpful(UnixTime) }))),
})
type Standing = z.infer<typeof Standing>

const Schedule = Standing.extend({
  id: ProviderId,
  object: z.literal('subscription_schedule'),
  /** Null before the schedule begins and after it was released. */
  subscription: helpful(Id),
  released_subscription: helpful(Id),
  canceled_at: helpful(UnixTime),
  completed_at: helpful(UnixTime),
})
type Schedule = z.infer<typeof Schedule>

/** Facts about a schedule from its event, beside the object. */
type Happened = 'created' | 'aborted' | 'anything else'

const END_FIELDS = ['status', 'end_behavior', 'phases']

/** A schedule that was read, or whose event adds nothing. */
export const meaningOfSchedule = meaningAfter('anything else')
/** `subscription_schedule.created`: no schedule ended the subscription before. */
export const meaningOfNewSchedule = meaningAfter('created')
/** `subscription_schedule.aborted`: the processor ended the subscription because it could not collect. */
export const meaningOfAbortedSchedule = meaningAfter('aborted')

/**
 * A schedule shows only the end of its subscription: with `end_behavior: cancel` the subscription ends with the last phase.
 */
function meaningAfter(happened: Happened): ObjectMeaning<ProcessorContext> {
  return (context, object) =>
    reading('subscription_schedule', Schedule, object, (schedule): Meaning => {
      const { shownAt, previous } = context
      if (shownAt === null) return { kind: 'malformed', reason: 'created: The event says no time' }
      const subscriptionId = schedule.subscription ?? schedule.released_subscription
      if (subscriptionId === null) return { kind: 'ignored', reason: 'The schedule manages no subscription yet' }
      const naming = nameObject(context, 'processor', 'subscription', subscriptionId, [subscriptionId, schedule.id])
      const before = standingBefore(happened, previous, object)
      const isRequest = before !== null && isOtherEnd(before, schedule)
      const isAboutEnd = isRequest || (previous === null && happened !== 'created')
      const keyed = isAboutEnd ? context : { ...context, idempotencyKey: null }
      const sighting: ObservedSubscription = {
        kind: 'subscription',
        ...naming,
        refs: withKey(keyed, naming.refs),
        asOf: shownAt,
        cancellation: cancellationOf(schedule, isRequest ? shownAt : null, happened),
        pause: { phase: 'none', effectiveAt: null },
        before:
          before === null ? null : { cancellation: before === 'no schedule' ? 'none' : phaseOf(before), pause: null },
        source: { kind: 'schedule', scheduleId: schedule.id, phaseEnds: phaseEndsOf(schedule) },
        idempotencyKey: keyed.idempotencyKey,
      }
      return { kind: 'observed', sightings: [sighting] }
    })
}

/** @param requestedAt when the end was set; null: unknown */
function cancellationOf(schedule: Schedule, requestedAt: number | null, happened: Happened): CancellationState {
  const phase = phaseOf(schedule)
  const { canceled_at, completed_at } = schedule
  switch (phase) {
    case 'none':
      return { phase, requestedAt: null, effectiveAt: null, cause: 'requested', detail: null }
    case 'scheduled':
      return { phase, requestedAt, effectiveAt: endOf(schedule), cause: 'requested', detail: null }
    case 'executed': {
      // Cancelling a schedule ends its subscription at once. A schedule that reached its end was set up long before.
      const asked = schedule.status === 'canceled' ? canceled_at : null
      const common = { phase, requestedAt: asked, effectiveAt: asked ?? completed_at }
      return happened === 'aborted'
        ? { ...common, cause: 'involuntary', detail: 'payment_failed' }
        : { ...common, cause: 'requested', detail: null }
    }
    default:
      return phase satisfies never
  }
}

function phaseOf({ status, end_behavior }: Standing): CancellationState['phase'] {
  switch (status) {
    case 'canceled':
      return 'executed'
    case 'completed':
      return end_behavior === 'cancel' ? 'executed' : 'none'
    case 'released':
      return 'none'
    default:
      return end_behavior === 'cancel' ? 'scheduled' : 'none'
  }
}

/** The end of the last phase; null: none. */
function endOf(standing: Standing): number | null {
  const ends = phaseEndsOf(standing)
  return ends.length === 0 ? null : Math.max(...ends)
}

function phaseEndsOf({ phases }: Standing): readonly number[] {
  return (phases ?? []).flatMap(phase => phase.end_date ?? [])
}

/** The schedule before an event; null: unknown. */
function standingBefore(
  happened: Happened,
  previous: ProcessorContext['previous'],
  object: Readonly<Record<string, unknown>>,
): Standing | 'no schedule' | null {
  if (happened === 'created') return 'no schedule'
  if (previous === null || !END_FIELDS.some(field => Object.hasOwn(previous, field))) return null
  const standing = Standing.safeParse({ ...object, ...previous })
  return standing.success ? standing.data : null
}

/** Whether the schedule newly ends the subscription, or ends it earlier than before. */
function isOtherEnd(before: Standing | 'no schedule', now: Standing): boolean {
  const phase = phaseOf(now)
  if (phase === 'none') return false
  if (before === 'no schedule' || phaseOf(before) !== phase) return true
  return (endOf(now) ?? 0) < (endOf(before) ?? 0)
}
