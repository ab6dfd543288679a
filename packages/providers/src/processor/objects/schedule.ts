import { ProviderId } from '@backstop/contracts'
import { z } from 'zod'
import { customerIn, detailsOf } from '../../details.ts'
import {
  Detail,
  helpful,
  Id,
  type Meaning,
  nameObject,
  type ObjectMeaning,
  reading,
  UnixTime,
} from '../../object-fields.ts'
import type { CancellationState, ObservedSubscription } from '../../sighting.ts'
import { type ProcessorContext, withKey } from './context.ts'
import { originOf, placeOf } from './details.ts'

/** The fields that decide whether and when a schedule ends its subscription. */
const EndFields = z.object({
  status: z.string(),
  end_behavior: z.string(),
  phases: helpful(z.array(z.object({ end_date: helpful(UnixTime) }))),
})
type EndFields = z.infer<typeof EndFields>

export const Schedule = EndFields.extend({
  id: ProviderId,
  object: z.literal('subscription_schedule'),
  /** The managed subscription. Null before the schedule begins, and after it was released. */
  subscription: helpful(Id),
  released_subscription: helpful(Id),
  canceled_at: helpful(UnixTime),
  completed_at: helpful(UnixTime),
  livemode: Detail,
  customer: Detail,
})
type Schedule = z.infer<typeof Schedule>

/** The kind of event that contained the schedule. */
type ScheduleEvent = 'created' | 'aborted' | 'other'

const END_FIELDS = ['status', 'end_behavior', 'phases']

/** Normalises a schedule that was read, or that is in an event without special meaning. */
export const meaningOfSchedule = createScheduleMeaning('other')
/** Normalises the schedule of `subscription_schedule.created`. No schedule ended the subscription before. */
export const meaningOfNewSchedule = createScheduleMeaning('created')
/**
 * Normalises the schedule of `subscription_schedule.aborted`. The processor ended the subscription because it could not collect.
 */
export const meaningOfAbortedSchedule = createScheduleMeaning('aborted')

/**
 * Normalises a schedule. It shows only the end of its subscription: with `end_behavior: cancel` the subscription ends with the
 * last phase.
 */
function createScheduleMeaning(event: ScheduleEvent): ObjectMeaning<ProcessorContext> {
  return (context, object) =>
    reading('subscription_schedule', Schedule, object, (schedule): Meaning => {
      const { shownAt, previous } = context
      if (shownAt === null) return { kind: 'malformed', reason: 'created: The event says no time' }
      const subscriptionId = schedule.subscription ?? schedule.released_subscription
      if (subscriptionId === null) return { kind: 'ignored', reason: 'The schedule manages no subscription yet' }
      const naming = nameObject(context, 'processor', 'subscription', subscriptionId, [subscriptionId, schedule.id])
      const before = fieldsBefore(event, previous, object)
      const isRequest = before !== null && setsNewOrEarlierEnd(before, schedule)
      const isAboutEnd = isRequest || (previous === null && event !== 'created')
      const keyed = isAboutEnd ? context : { ...context, idempotencyKey: null, requestId: null }
      const cancellation = cancellationOf(schedule, isRequest ? shownAt : null, event)
      const sighting: ObservedSubscription = {
        kind: 'subscription',
        ...naming,
        refs: withKey(keyed, naming.refs),
        asOf: shownAt,
        cancellation,
        pause: { phase: 'none', effectiveAt: null },
        before:
          before === null ? null : { cancellation: before === 'no schedule' ? 'none' : phaseOf(before), pause: null },
        source: { kind: 'schedule', scheduleId: schedule.id, phaseEnds: phaseEndsOf(schedule) },
        idempotencyKey: keyed.idempotencyKey,
        ...(keyed.requestId === null ? {} : { requestId: keyed.requestId }),
        ...detailsOf({
          origin: cancellation.phase === 'none' ? undefined : originOf(keyed, cancellation.cause !== 'requested'),
          customer: customerIn(schedule.customer),
          ...placeOf(context, schedule.livemode, 'subscriptions', subscriptionId),
        }),
      }
      return { kind: 'observed', sightings: [sighting] }
    })
}

/** The end that a schedule sets. @param requestedAt the time when the end was set; null if unknown */
function cancellationOf(schedule: Schedule, requestedAt: number | null, event: ScheduleEvent): CancellationState {
  const phase = phaseOf(schedule)
  const { canceled_at, completed_at } = schedule
  switch (phase) {
    case 'none':
      return { phase, requestedAt: null, effectiveAt: null, cause: 'requested', detail: null }
    case 'scheduled':
      return { phase, requestedAt, effectiveAt: endOf(schedule), cause: 'requested', detail: null }
    case 'executed': {
      // A cancelled schedule ends its subscription at once, so this is the time of the request. If the last phase ended
      // instead, the end was requested earlier, at an unknown time.
      const asked = schedule.status === 'canceled' ? canceled_at : null
      const common = { phase, requestedAt: asked, effectiveAt: asked ?? completed_at }
      return event === 'aborted'
        ? { ...common, cause: 'involuntary', detail: 'payment_failed' }
        : { ...common, cause: 'requested', detail: null }
    }
    default:
      return phase satisfies never
  }
}

function phaseOf({ status, end_behavior }: EndFields): CancellationState['phase'] {
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

/** The end of the last phase; null if there is none. */
function endOf(fields: EndFields): number | null {
  const ends = phaseEndsOf(fields)
  return ends.length === 0 ? null : Math.max(...ends)
}

function phaseEndsOf({ phases }: EndFields): readonly number[] {
  return (phases ?? []).flatMap(phase => phase.end_date ?? [])
}

/** The deciding fields before an event; null if unknown. */
function fieldsBefore(
  event: ScheduleEvent,
  previous: ProcessorContext['previous'],
  object: Readonly<Record<string, unknown>>,
): EndFields | 'no schedule' | null {
  if (event === 'created') return 'no schedule'
  if (previous === null || !END_FIELDS.some(field => Object.hasOwn(previous, field))) return null
  const fields = EndFields.safeParse({ ...object, ...previous })
  return fields.success ? fields.data : null
}

/** True if the schedule ends the subscription and did not before, or ends it earlier than before. */
function setsNewOrEarlierEnd(before: EndFields | 'no schedule', now: EndFields): boolean {
  const phase = phaseOf(now)
  if (phase === 'none') return false
  if (before === 'no schedule' || phaseOf(before) !== phase) return true
  return (endOf(now) ?? 0) < (endOf(before) ?? 0)
}
