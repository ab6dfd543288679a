/** Subscription changes at the processor, by requests and by the passing of time. */
import type { AccountState, Caller } from './account-state.ts'
import { previousAttributes } from './events.ts'
import { makeSchedule, type ProcessorSchedule } from './objects/schedule.ts'
import type { ProcessorSubscription } from './objects/subscription.ts'
import { invalidRequest } from './refusal.ts'

type Details = NonNullable<ProcessorSubscription['cancellation_details']>

/** The reason that a person gives for a cancellation. */
export interface CancelReason extends Caller {
  comment?: string
  feedback?: NonNullable<Details['feedback']>
}

export interface SubscriptionActions {
  /**
   * Schedules the end of the subscription for the end of the period, or for `atMs` (milliseconds since the epoch), by `flag` like
   * the dashboard, or by `cancel_at` like the customer portal in flexible mode. Emits customer.subscription.updated.
   */
  scheduleCancel(id: string, how?: CancelReason & { by?: 'flag' | 'cancel_at'; atMs?: number }): ProcessorSubscription
  /**
   * Creates a schedule that ends the subscription with the period. Emits subscription_schedule.created, and
   * customer.subscription.updated with the id of the schedule. Only the schedule shows the cancellation.
   */
  scheduleCancelByObject(id: string, caller?: Caller): ProcessorSchedule
  /** Creates a schedule that does not end the subscription. Emits the same events as scheduling an end. */
  scheduleByObject(id: string, caller?: Caller): ProcessorSchedule
  /** Changes the schedule. Emits subscription_schedule.updated. */
  changeSchedule(
    scheduleId: string,
    to: Caller & { endBehavior?: 'cancel' | 'release'; endsAtMs?: number; metadata?: Record<string, string> },
  ): ProcessorSchedule
  /**
   * Releases the schedule, so that the subscription continues without it. Emits subscription_schedule.released and
   * customer.subscription.updated.
   */
  releaseSchedule(scheduleId: string, caller?: Caller): ProcessorSchedule
  /** Ends the schedule and its subscription at once. Emits subscription_schedule.canceled and customer.subscription.deleted. */
  cancelSchedule(scheduleId: string, caller?: Caller): ProcessorSchedule
  /** Removes the scheduled cancellation. Emits customer.subscription.updated. */
  unschedule(id: string, caller?: Caller): ProcessorSubscription
  /** Ends the subscription at once. Emits customer.subscription.deleted. The reason `payment_disputed` is for a lost dispute. */
  cancel(id: string, how?: CancelReason & { reason?: NonNullable<Details['reason']> }): ProcessorSubscription
  /** Pauses the collection of payments. The service continues. Emits customer.subscription.updated. */
  pauseCollection(
    id: string,
    how?: Caller & { behavior?: 'keep_as_draft' | 'mark_uncollectible' | 'void'; resumesAtMs?: number },
  ): ProcessorSubscription
  resumeCollection(id: string, caller?: Caller): ProcessorSubscription
  /** Pauses the service: status paused. Emits customer.subscription.updated and .paused. */
  pause(id: string, caller?: Caller): ProcessorSubscription
  /** Resumes the service. Emits customer.subscription.updated and .resumed. */
  resume(id: string, caller?: Caller): ProcessorSubscription
  /** Makes a change that is not a cancellation. Emits customer.subscription.updated. */
  change(id: string, to: Caller & { quantity?: number; metadata?: Record<string, string> }): ProcessorSubscription
  /** Lets a renewal payment fail. The subscription is past due, and the processor will retry. */
  missPayment(id: string): ProcessorSubscription
  /** Lets the last attempt to collect fail. Emits customer.subscription.deleted with the reason payment_failed. */
  endDunning(id: string): ProcessorSubscription
  /** Ends the period. Scheduled changes take effect; otherwise the subscription renews. */
  endPeriod(id: string): ProcessorSubscription
}

type EventName = 'updated' | 'deleted' | 'paused' | 'resumed'

/** The length of a billing period in seconds: 30 days. */
export const PERIOD_S = 30 * 86_400

const NO_DETAILS: Details = { comment: null, feedback: null, feedback_option: null, reason: null }
const BY_ITSELF: Caller = { automatic: true }

/** The subscription operations of an account. `renew` charges a period and returns the id of the invoice. */
export function subscriptionActions(
  state: AccountState,
  renew: (subscription: ProcessorSubscription) => string,
): SubscriptionActions {
  return {
    scheduleCancel(id, { by = 'flag', atMs, ...how } = {}) {
      const subscription = usable(state, id)
      const periodEnd = subscription.items.data[0]?.current_period_end ?? nowS(state)
      const to = {
        cancel_at_period_end: by === 'flag',
        cancel_at: atMs === undefined ? periodEnd : Math.floor(atMs / 1000),
        canceled_at: nowS(state),
        cancellation_details: { ...words(how), reason: 'cancellation_requested' },
      }
      return changeSubscription(state, id, to, ['updated'], how)
    },
    ...scheduleActions(state),
    unschedule(id, caller) {
      release(state, usable(state, id), caller)
      const to = { cancel_at_period_end: false, cancel_at: null, canceled_at: null, schedule: null }
      return changeSubscription(state, id, { ...to, cancellation_details: NO_DETAILS }, ['updated'], caller)
    },
    cancel: (id, { reason = 'cancellation_requested', ...how } = {}) =>
      endSubscription(state, id, nowS(state), { ...words(how), reason }, how),
    pauseCollection(id, { behavior = 'void', resumesAtMs, ...caller } = {}) {
      const resumes_at = resumesAtMs === undefined ? null : Math.floor(resumesAtMs / 1000)
      return changeSubscription(state, id, { pause_collection: { behavior, resumes_at } }, ['updated'], caller)
    },
    resumeCollection: (id, caller) => changeSubscription(state, id, { pause_collection: null }, ['updated'], caller),
    pause(id, caller) {
      const paused = { subscription: { type: 'pause_requested' }, transitioned_at: nowS(state), type: 'subscription' }
      return changeSubscription(
        state,
        id,
        { status: 'paused', status_details: { paused } },
        ['updated', 'paused'],
        caller,
      )
    },
    resume(id, caller) {
      const subscription = usable(state, id)
      if (subscription.status !== 'paused') throw invalidRequest(`Subscription ${id} is not paused.`)
      const { status_details, ...rest } = subscription
      const after = state.subscriptions.put({ ...rest, status: 'active' })
      return emitChange(state, subscription, after, ['updated', 'resumed'], caller)
    },
    change(id, { quantity, metadata, ...caller }) {
      const { items } = usable(state, id)
      const data = items.data.map(item => (quantity === undefined ? item : { ...item, quantity }))
      const to = { items: { ...items, data }, ...(metadata === undefined ? {} : { metadata }) }
      return changeSubscription(state, id, to, ['updated'], caller)
    },
    missPayment: id => changeSubscription(state, id, { status: 'past_due' }, ['updated'], BY_ITSELF),
    endDunning: id => endSubscription(state, id, nowS(state), { ...NO_DETAILS, reason: 'payment_failed' }, BY_ITSELF),
    endPeriod(id) {
      const subscription = usable(state, id)
      const { cancel_at, canceled_at, cancellation_details } = subscription
      if (cancel_at !== null)
        return endSubscription(state, id, canceled_at ?? nowS(state), cancellation_details ?? NO_DETAILS, BY_ITSELF)
      if (state.schedules.get(String(subscription.schedule))?.end_behavior === 'cancel') {
        endSchedule(state, subscription, { status: 'completed', completed_at: nowS(state) }, 'completed', BY_ITSELF)
        return endSubscription(state, id, nowS(state), NO_DETAILS, BY_ITSELF)
      }
      release(state, subscription, BY_ITSELF)
      const renewed = { ...withNextPeriod(subscription), latest_invoice: renew(subscription) }
      const to = { ...renewed, status: 'active', schedule: null }
      return changeSubscription(state, id, to, ['updated'], BY_ITSELF)
    },
  }
}

type ScheduleAction =
  | 'scheduleCancelByObject'
  | 'scheduleByObject'
  | 'changeSchedule'
  | 'releaseSchedule'
  | 'cancelSchedule'

function scheduleActions(state: AccountState): Pick<SubscriptionActions, ScheduleAction> {
  return {
    scheduleCancelByObject: (id, caller) => makeScheduled(state, id, 'cancel', caller),
    scheduleByObject: (id, caller) => makeScheduled(state, id, 'release', caller),
    changeSchedule(scheduleId, { endBehavior, endsAtMs, metadata, ...caller }) {
      const before = usableSchedule(state, scheduleId)
      const end_date = endsAtMs === undefined ? undefined : Math.floor(endsAtMs / 1000)
      const after = state.schedules.put({
        ...before,
        ...(endBehavior === undefined ? {} : { end_behavior: endBehavior }),
        ...(metadata === undefined ? {} : { metadata }),
        ...(end_date === undefined ? {} : { phases: before.phases.map(phase => ({ ...phase, end_date })) }),
      })
      const previous = previousAttributes(before, after)
      state.emit({ type: 'subscription_schedule.updated', object: after, previous }, state.requestOf(caller))
      return after
    },
    releaseSchedule(scheduleId, caller) {
      const subscription = usable(state, String(usableSchedule(state, scheduleId).subscription))
      const released = release(state, subscription, caller)
      changeSubscription(state, subscription.id, { schedule: null }, ['updated'], caller)
      return released ?? usableSchedule(state, scheduleId)
    },
    cancelSchedule(scheduleId, caller) {
      const { subscription } = usableSchedule(state, scheduleId)
      endSubscription(
        state,
        String(subscription),
        nowS(state),
        { ...NO_DETAILS, reason: 'cancellation_requested' },
        caller,
      )
      return state.schedules.existing(scheduleId)
    },
  }
}

function nowS(state: AccountState): number {
  return state.context().created
}

function usable(state: AccountState, id: string): ProcessorSubscription {
  const subscription = state.subscriptions.existing(id)
  if (subscription.status === 'canceled') {
    throw invalidRequest('A canceled subscription can only update its cancellation_details and metadata.')
  }
  return subscription
}

function changeSubscription(
  state: AccountState,
  id: string,
  to: Partial<ProcessorSubscription>,
  names: readonly EventName[],
  caller: Caller | undefined,
): ProcessorSubscription {
  const before = usable(state, id)
  return emitChange(state, before, state.subscriptions.put({ ...before, ...to }), names, caller)
}

function emitChange(
  state: AccountState,
  before: ProcessorSubscription,
  after: ProcessorSubscription,
  names: readonly EventName[],
  caller: Caller | undefined,
): ProcessorSubscription {
  const request = state.requestOf(caller)
  const previous = previousAttributes(before, after)
  for (const name of names) {
    const isUpdate = name === 'updated'
    const event = { type: `customer.subscription.${name}`, object: after } as const
    state.emit(isUpdate ? { ...event, previous } : event, request)
  }
  return after
}

/** Ends a subscription. @param canceled_at the time of the request, which is earlier for an end at the end of a period */
function endSubscription(
  state: AccountState,
  id: string,
  canceled_at: number,
  details: Details,
  caller: Caller | undefined,
): ProcessorSubscription {
  const to = { status: 'canceled', canceled_at, ended_at: nowS(state), cancellation_details: details }
  const isDelinquent = details.reason === 'payment_failed'
  const schedule = { status: 'canceled', canceled_at: nowS(state) }
  endSchedule(state, usable(state, id), schedule, isDelinquent ? 'aborted' : 'canceled', caller)
  return changeSubscription(state, id, to, ['deleted'], caller)
}

function makeScheduled(
  state: AccountState,
  id: string,
  endBehavior: 'cancel' | 'release',
  caller: Caller | undefined,
): ProcessorSchedule {
  const schedule = state.schedules.put(makeSchedule(state.context(), usable(state, id), endBehavior))
  // The events of the schedule and of the subscription have the same request.
  const request = { ...caller, requestId: caller?.requestId ?? state.requestOf().id ?? '' }
  state.emit({ type: 'subscription_schedule.created', object: schedule }, state.requestOf(request))
  changeSubscription(state, id, { schedule: schedule.id }, ['updated'], request)
  return schedule
}

function usableSchedule(state: AccountState, id: string): ProcessorSchedule {
  const schedule = state.schedules.existing(id)
  if (schedule.status !== 'active') {
    throw invalidRequest(`You cannot change a subscription schedule that is in the \`${schedule.status}\` status.`)
  }
  return schedule
}

/** Ends the schedule of the subscription, if there is one. */
function endSchedule(
  state: AccountState,
  { schedule }: ProcessorSubscription,
  to: Partial<ProcessorSchedule>,
  name: 'released' | 'canceled' | 'aborted' | 'completed',
  caller: Caller | undefined,
): ProcessorSchedule | undefined {
  const before = state.schedules.get(String(schedule))
  if (before?.status !== 'active') return undefined
  const ended = state.schedules.put({ ...before, ...to, current_phase: null })
  state.emit({ type: `subscription_schedule.${name}`, object: ended }, state.requestOf(caller))
  return ended
}

function release(
  state: AccountState,
  subscription: ProcessorSubscription,
  caller: Caller | undefined,
): ProcessorSchedule | undefined {
  const released = { released_at: nowS(state), released_subscription: subscription.id, subscription: null }
  return endSchedule(state, subscription, { status: 'released', ...released }, 'released', caller)
}

function withNextPeriod(subscription: ProcessorSubscription): Partial<ProcessorSubscription> {
  const items = subscription.items.data.map(item => ({
    ...item,
    current_period_start: item.current_period_end,
    current_period_end: item.current_period_end + PERIOD_S,
  }))
  return { items: { ...subscription.items, data: items } }
}

function words({ comment = null, feedback = null }: { comment?: string | null; feedback?: string | null }): Details {
  return { ...NO_DETAILS, comment, feedback }
}
