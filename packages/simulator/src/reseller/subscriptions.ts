/** Subscription changes at the reseller, by requests and by the passing of time. */
import type { ICustomData } from '@paddle/paddle-node-sdk'
import type { AccountState } from './account-state.ts'
import { timeAt } from './object-context.ts'
import type { ResellerSubscription } from './objects/subscription.ts'
import { ResellerRefusal } from './refusal.ts'

export interface SubscriptionActions {
  /** Schedules a cancellation for the end of the period. Emits subscription.updated. */
  scheduleCancel(id: string): ResellerSubscription
  /** Schedules a pause for the end of the period, until `resumeAtMs` (milliseconds since the epoch) if given. */
  schedulePause(id: string, resumeAtMs?: number): ResellerSubscription
  /** Schedules the resumption of a paused subscription. */
  scheduleResume(id: string, atMs: number): ResellerSubscription
  /** Removes the scheduled change. Emits subscription.updated. */
  unschedule(id: string): ResellerSubscription
  /** Cancels at once. Emits subscription.updated and subscription.canceled. */
  cancel(id: string): ResellerSubscription
  /** Pauses at once. Emits subscription.updated and subscription.paused. */
  pause(id: string): ResellerSubscription
  /** Resumes a paused subscription. Emits subscription.updated and subscription.resumed. */
  resume(id: string): ResellerSubscription
  /** Lets a renewal payment fail. The subscription is past due, and the reseller will retry. */
  missPayment(id: string): ResellerSubscription
  /** Lets the last attempt to collect fail. The account's setting cancels or pauses the subscription. No field has the reason. */
  endDunning(id: string, by?: 'cancel' | 'pause'): ResellerSubscription
  /** Makes a change that is not a cancellation: the custom data or the quantity. */
  change(id: string, to: { customData?: ICustomData; quantity?: number }): ResellerSubscription
  /** Ends the period. Scheduled changes take effect; otherwise the subscription renews. */
  endPeriod(id: string): ResellerSubscription
}

/** The length of a billing period in milliseconds: 30 days. */
export const PERIOD_MS = 30 * 86_400_000

/** The subscription operations of an account. `renew` charges the next period. */
export function subscriptionActions(
  state: AccountState,
  renew: (subscription: ResellerSubscription) => void,
): SubscriptionActions {
  return {
    scheduleCancel: id =>
      schedule(state, id, { action: 'cancel', effective_at: periodEnd(usable(state, id)), resume_at: null }),
    schedulePause: (id, resumeAtMs) =>
      schedule(state, id, {
        action: 'pause',
        effective_at: periodEnd(usable(state, id)),
        resume_at: resumeAtMs === undefined ? null : timeAt(resumeAtMs),
      }),
    scheduleResume: (id, atMs) =>
      schedule(state, id, { action: 'resume', effective_at: timeAt(atMs), resume_at: null }),
    unschedule(id) {
      const { current_billing_period } = usable(state, id)
      const change = { scheduled_change: null, next_billed_at: current_billing_period?.ends_at ?? null }
      return state.changeSubscription(id, change, ['subscription.updated'])
    },
    cancel: id => cancelNow(state, id),
    pause: id => pauseNow(state, id),
    resume: id => resumeNow(state, id),
    missPayment(id) {
      usable(state, id)
      return state.changeSubscription(id, { status: 'past_due' }, ['subscription.updated', 'subscription.past_due'])
    },
    endDunning: (id, by = 'cancel') => (by === 'cancel' ? cancelNow(state, id) : pauseNow(state, id)),
    change(id, { customData, quantity }) {
      const { items } = usable(state, id)
      const change = {
        ...(customData === undefined ? {} : { custom_data: customData }),
        ...(quantity === undefined ? {} : { items: items.map(item => ({ ...item, quantity })) }),
      }
      return state.changeSubscription(id, change, ['subscription.updated'])
    },
    endPeriod(id) {
      const subscription = usable(state, id)
      switch (subscription.scheduled_change?.action) {
        case 'cancel':
          return cancelNow(state, id, subscription.scheduled_change.effective_at)
        case 'pause':
          return pauseNow(state, id)
        case 'resume':
          return resumeNow(state, id)
        default:
          renew(subscription)
          return state.changeSubscription(id, { status: 'active', ...periodFrom(nowMs(state)) }, [
            'subscription.updated',
          ])
      }
    },
  }
}

function nowMs(state: AccountState): number {
  return state.context().nowMs
}

/** The subscription. @throws ResellerRefusal if it is canceled, which is final */
function usable(state: AccountState, id: string): ResellerSubscription {
  const subscription = state.subscriptions.existing(id)
  if (subscription.status === 'canceled') {
    throw new ResellerRefusal(
      400,
      'subscriptions/subscription_is_canceled_action_invalid',
      `The subscription is canceled. It cannot be changed. ID: ${id}`,
    )
  }
  return subscription
}

function schedule(state: AccountState, id: string, scheduled: NonNullable<ResellerSubscription['scheduled_change']>) {
  if (usable(state, id).scheduled_change != null) {
    throw new ResellerRefusal(
      400,
      'subscriptions/subscription_locked_pending_changes',
      `The subscription has a scheduled change already. ID: ${id}`,
    )
  }
  return state.changeSubscription(id, { scheduled_change: scheduled, next_billed_at: null }, ['subscription.updated'])
}

/** Cancels a subscription. @param canceledAt the scheduled time, if the cancellation was scheduled */
function cancelNow(state: AccountState, id: string, canceledAt = timeAt(nowMs(state))): ResellerSubscription {
  const { items } = usable(state, id)
  return state.changeSubscription(
    id,
    {
      status: 'canceled',
      canceled_at: canceledAt,
      scheduled_change: null,
      next_billed_at: null,
      current_billing_period: null,
      items: items.map(item => ({ ...item, status: 'inactive', next_billed_at: null })),
    },
    ['subscription.updated', 'subscription.canceled'],
  )
}

function pauseNow(state: AccountState, id: string): ResellerSubscription {
  const { scheduled_change: scheduled } = usable(state, id)
  const resumeAt = scheduled?.action === 'pause' ? (scheduled.resume_at ?? null) : null
  return state.changeSubscription(
    id,
    {
      status: 'paused',
      paused_at: timeAt(nowMs(state)),
      scheduled_change: resumeAt === null ? null : { action: 'resume', effective_at: resumeAt, resume_at: null },
      next_billed_at: null,
      current_billing_period: null,
    },
    ['subscription.updated', 'subscription.paused'],
  )
}

function resumeNow(state: AccountState, id: string): ResellerSubscription {
  if (usable(state, id).status !== 'paused') {
    throw new ResellerRefusal(
      400,
      'subscriptions/subscription_is_not_paused',
      `The subscription is not paused. ID: ${id}`,
    )
  }
  return state.changeSubscription(
    id,
    { status: 'active', paused_at: null, scheduled_change: null, ...periodFrom(nowMs(state)) },
    ['subscription.updated', 'subscription.resumed'],
  )
}

function periodEnd(subscription: ResellerSubscription): string {
  const end = subscription.current_billing_period?.ends_at
  if (end === undefined) {
    throw new ResellerRefusal(400, 'subscriptions/subscription_update_when_paused', 'The subscription has no period.')
  }
  return end
}

function periodFrom(startMs: number): Pick<ResellerSubscription, 'current_billing_period' | 'next_billed_at'> {
  const ends_at = timeAt(startMs + PERIOD_MS)
  return { current_billing_period: { starts_at: timeAt(startMs), ends_at }, next_billed_at: ends_at }
}
