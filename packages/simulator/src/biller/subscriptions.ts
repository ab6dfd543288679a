/** Subscription changes at the biller, by requests and by the passing of time. */
import type { AccountState } from './account-state.ts'
import type { Actor, BillerEventType } from './events.ts'
import { secondsOf } from './object-context.ts'
import type { BillerSubscription } from './objects/subscription.ts'
import { BY_ITSELF, OPERATOR } from './refunds.ts'
import { wrongState } from './refusal.ts'

export interface SubscriptionActions {
  /**
   * Schedules the end of the subscription for the end of the term, or for `atMs` (milliseconds since the epoch). Emits
   * subscription_cancellation_scheduled.
   */
  scheduleCancel(id: string, how?: { by?: Actor; atMs?: number; reasonCode?: string }): BillerSubscription
  /** Removes the scheduled cancellation. Emits subscription_scheduled_cancellation_removed. */
  removeScheduledCancel(id: string, by?: Actor): BillerSubscription
  /**
   * Ends the subscription at once, or as of an earlier time `asOfMs` (milliseconds since the epoch). Emits subscription_cancelled, or
   * subscription_canceled_with_backdating.
   */
  cancel(id: string, how?: { by?: Actor; reasonCode?: string; asOfMs?: number }): BillerSubscription
  /** Schedules a pause for the end of the term, until `resumeAtMs` if given. Emits subscription_pause_scheduled. */
  schedulePause(id: string, how?: { by?: Actor; resumeAtMs?: number }): BillerSubscription
  /** Removes the scheduled pause. Emits subscription_scheduled_pause_removed. */
  removeScheduledPause(id: string, by?: Actor): BillerSubscription
  /** Pauses at once. Emits subscription_paused. */
  pause(id: string, by?: Actor): BillerSubscription
  /** Schedules the resumption of a paused subscription. Emits subscription_resumption_scheduled. */
  scheduleResume(id: string, atMs: number, by?: Actor): BillerSubscription
  /** Resumes a paused subscription. Emits subscription_resumed. */
  resume(id: string, by?: Actor): BillerSubscription
  /** Changes the quantity, which is not a cancellation. Emits subscription_changed. */
  change(id: string, to: { quantity: number }, by?: Actor): BillerSubscription
  /** Lets the last attempt to collect fail. The biller cancels the subscription with the reason `not_paid`. */
  endDunning(id: string): BillerSubscription
  /** Reactivates a cancelled subscription. Emits subscription_reactivated. */
  reactivate(id: string, by?: Actor): BillerSubscription
  /** Ends the term. Scheduled changes take effect, a plan without further terms ends, all other subscriptions renew. */
  endTerm(id: string): BillerSubscription
}

type SubscriptionEventType = Extract<BillerEventType, `subscription_${string}`>
type Change = Parameters<AccountState['subscriptions']['change']>[1]

/** The length of a term in milliseconds: 30 days. */
export const TERM_MS = 30 * 86_400_000

/** The subscription operations of a site. `renew` charges the next term. */
export function subscriptionActions(
  state: AccountState,
  renew: (subscription: BillerSubscription) => void,
): SubscriptionActions {
  function renewTerm(subscription: BillerSubscription): BillerSubscription {
    const cycles = subscription.remaining_billing_cycles
    const left = cycles === undefined ? undefined : cycles - 1
    const term = termFrom(state.context().nowMs)
    renew(subscription)
    // The last term of a plan with an end is no cancellation, so it has no time at which a cancellation was scheduled.
    const last: Change =
      left === 0
        ? { status: 'non_renewing', cancelled_at: term.current_term_end, next_billing_at: undefined }
        : { status: 'active' }
    const to = { ...term, ...(left === undefined ? {} : { remaining_billing_cycles: left }), ...last }
    return changeSubscription(state, subscription.id, to, 'subscription_renewed', BY_ITSELF)
  }

  return {
    scheduleCancel(id, { by = OPERATOR, atMs, reasonCode } = {}) {
      const { current_term_end } = usable(state, id, 'active', 'in_trial')
      const to = {
        status: 'non_renewing',
        cancelled_at: atMs === undefined ? current_term_end : secondsOf(atMs),
        cancel_schedule_created_at: nowS(state),
        cancel_reason_code: reasonCode,
        next_billing_at: undefined,
      } satisfies Change
      return changeSubscription(state, id, to, 'subscription_cancellation_scheduled', by)
    },
    removeScheduledCancel(id, by = OPERATOR) {
      const { current_term_end } = usable(state, id, 'non_renewing')
      const to = {
        status: 'active',
        cancelled_at: undefined,
        cancel_schedule_created_at: undefined,
        cancel_reason_code: undefined,
        remaining_billing_cycles: undefined,
        next_billing_at: current_term_end,
      } satisfies Change
      return changeSubscription(state, id, to, 'subscription_scheduled_cancellation_removed', by)
    },
    cancel(id, { by = OPERATOR, reasonCode, asOfMs } = {}) {
      const cancelled_at = asOfMs === undefined ? nowS(state) : secondsOf(asOfMs)
      const event = asOfMs === undefined ? 'subscription_cancelled' : 'subscription_canceled_with_backdating'
      return endSubscription(
        state,
        id,
        { cancelled_at, cancel_schedule_created_at: undefined, cancel_reason_code: reasonCode },
        by,
        event,
      )
    },
    ...pauseActions(state),
    change(id, { quantity }, by = OPERATOR) {
      const { subscription_items } = usable(state, id, 'active', 'in_trial', 'non_renewing')
      const items = subscription_items.map(item => ({
        ...item,
        quantity,
        amount: (item.unit_price ?? 0) * quantity,
      }))
      return changeSubscription(state, id, { subscription_items: items }, 'subscription_changed', by)
    },
    endDunning: id => endSubscription(state, id, { cancelled_at: nowS(state), cancel_reason: 'not_paid' }, BY_ITSELF),
    reactivate(id, by = OPERATOR) {
      usable(state, id, 'cancelled')
      const to = {
        status: 'active',
        cancelled_at: undefined,
        cancel_schedule_created_at: undefined,
        cancel_reason: undefined,
        cancel_reason_code: undefined,
        activated_at: nowS(state),
      } satisfies Change
      return changeSubscription(
        state,
        id,
        { ...to, ...termFrom(state.context().nowMs) },
        'subscription_reactivated',
        by,
      )
    },
    endTerm(id) {
      const subscription = usable(state, id, 'active', 'in_trial', 'non_renewing', 'paused')
      const { cancelled_at } = subscription
      if (subscription.status === 'non_renewing') return endSubscription(state, id, { cancelled_at }, BY_ITSELF)
      if (subscription.status === 'paused') return this.resume(id, BY_ITSELF)
      if (subscription.pause_date !== undefined) return pauseNow(state, id, BY_ITSELF)
      return renewTerm(subscription)
    },
  }
}

type PauseAction = 'schedulePause' | 'removeScheduledPause' | 'pause' | 'scheduleResume' | 'resume'

function pauseActions(state: AccountState): Pick<SubscriptionActions, PauseAction> {
  return {
    schedulePause(id, { by = OPERATOR, resumeAtMs } = {}) {
      const { current_term_end } = usable(state, id, 'active')
      const resume_date = resumeAtMs === undefined ? undefined : secondsOf(resumeAtMs)
      return changeSubscription(
        state,
        id,
        { pause_date: current_term_end, resume_date },
        'subscription_pause_scheduled',
        by,
      )
    },
    removeScheduledPause(id, by = OPERATOR) {
      usable(state, id, 'active')
      const to = { pause_date: undefined, resume_date: undefined }
      return changeSubscription(state, id, to, 'subscription_scheduled_pause_removed', by)
    },
    pause: (id, by = OPERATOR) => pauseNow(state, id, by),
    scheduleResume(id, atMs, by = OPERATOR) {
      usable(state, id, 'paused')
      return changeSubscription(state, id, { resume_date: secondsOf(atMs) }, 'subscription_resumption_scheduled', by)
    },
    resume(id, by = OPERATOR) {
      usable(state, id, 'paused')
      const to = { status: 'active', pause_date: undefined, resume_date: undefined } satisfies Change
      return changeSubscription(state, id, { ...to, ...termFrom(state.context().nowMs) }, 'subscription_resumed', by)
    },
  }
}

function nowS(state: AccountState): number {
  return secondsOf(state.context().nowMs)
}

function changeSubscription(
  state: AccountState,
  id: string,
  to: Change,
  event_type: SubscriptionEventType,
  by: Actor,
): BillerSubscription {
  const subscription = state.subscriptions.change(id, to)
  state.emit({ event_type, content: { subscription, ...state.buyer(subscription.customer_id) } }, by)
  return subscription
}

function usable(state: AccountState, id: string, ...allowed: BillerSubscription['status'][]): BillerSubscription {
  const subscription = state.subscriptions.existing(id)
  if (!allowed.includes(subscription.status)) {
    throw wrongState(`The subscription ${id} is ${subscription.status}`)
  }
  return subscription
}

function endSubscription(
  state: AccountState,
  id: string,
  why: Change,
  by: Actor,
  event: SubscriptionEventType = 'subscription_cancelled',
): BillerSubscription {
  usable(state, id, 'active', 'in_trial', 'non_renewing', 'paused')
  const to = {
    status: 'cancelled',
    cancelled_at: nowS(state),
    next_billing_at: undefined,
    pause_date: undefined,
    resume_date: undefined,
    ...why,
  } satisfies Change
  return changeSubscription(state, id, to, event, by)
}

function pauseNow(state: AccountState, id: string, by: Actor): BillerSubscription {
  usable(state, id, 'active')
  const to = { status: 'paused', pause_date: nowS(state), next_billing_at: undefined } satisfies Change
  return changeSubscription(state, id, to, 'subscription_paused', by)
}

function termFrom(startMs: number) {
  const end = secondsOf(startMs + TERM_MS)
  return { current_term_start: secondsOf(startMs), current_term_end: end, next_billing_at: end }
}
