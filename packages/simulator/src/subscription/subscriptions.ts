/** What can happen to a subscription at the biller, by whoever does it and by the passing of time. */
import type { Books } from './account-state.ts'
import type { Actor, BillerEventType } from './events.ts'
import { secondsOf } from './object-context.ts'
import type { BillerSubscription } from './objects/subscription.ts'
import { BY_ITSELF, OPERATOR } from './refunds.ts'
import { wrongState } from './refusal.ts'

export interface SubscriptionActions {
  /** It is to end with the term, or at `atMs` (milliseconds since the epoch). Leaves subscription_cancellation_scheduled. */
  scheduleCancel(id: string, how?: { by?: Actor; atMs?: number; reasonCode?: string }): BillerSubscription
  /** Leaves subscription_scheduled_cancellation_removed. */
  removeScheduledCancel(id: string, by?: Actor): BillerSubscription
  /** Ends at once. Leaves subscription_cancelled. */
  cancel(id: string, how?: { by?: Actor; reasonCode?: string }): BillerSubscription
  /** It is to pause when the term ends, until `resumeAtMs` when given. Leaves subscription_pause_scheduled. */
  schedulePause(id: string, how?: { by?: Actor; resumeAtMs?: number }): BillerSubscription
  /** Leaves subscription_scheduled_pause_removed. */
  removeScheduledPause(id: string, by?: Actor): BillerSubscription
  /** Pauses at once. Leaves subscription_paused. */
  pause(id: string, by?: Actor): BillerSubscription
  /** A paused one is to go on then. Leaves subscription_resumption_scheduled. */
  scheduleResume(id: string, atMs: number, by?: Actor): BillerSubscription
  /** Leaves subscription_resumed. */
  resume(id: string, by?: Actor): BillerSubscription
  /** Changes the quantity, which is no cancellation. Leaves subscription_changed. */
  change(id: string, to: { quantity: number }, by?: Actor): BillerSubscription
  /** The last try to collect has failed: cancelled for `not_paid` by the provider itself. */
  endDunning(id: string): BillerSubscription
  /** A cancelled one begins again. Leaves subscription_reactivated. */
  reactivate(id: string, by?: Actor): BillerSubscription
  /** The term ends: what was scheduled happens, a plan without further terms ends, everything else renews. */
  endTerm(id: string): BillerSubscription
}

type SubscriptionEventType = Extract<BillerEventType, `subscription_${string}`>
type Change = Parameters<Books['subscriptions']['change']>[1]

/** Milliseconds of a term; every one is 30 days long. */
export const TERM_MS = 30 * 86_400_000

/** Everything about subscriptions that a site can do. `renew` collects for the next term. */
export function subscriptionActions(
  books: Books,
  renew: (subscription: BillerSubscription) => void,
): SubscriptionActions {
  const nowS = () => secondsOf(books.making().nowMs)

  function change(id: string, to: Change, event_type: SubscriptionEventType, by: Actor): BillerSubscription {
    const subscription = books.subscriptions.change(id, to)
    books.emit({ event_type, content: { subscription, ...books.buyer(subscription.customer_id) } }, by)
    return subscription
  }

  function usable(id: string, ...allowed: BillerSubscription['status'][]): BillerSubscription {
    const subscription = books.subscriptions.existing(id)
    if (!allowed.includes(subscription.status)) {
      throw wrongState(`The subscription ${id} is ${subscription.status}`)
    }
    return subscription
  }

  function end(id: string, why: Change, by: Actor): BillerSubscription {
    usable(id, 'active', 'in_trial', 'non_renewing', 'paused')
    const to = {
      status: 'cancelled',
      cancelled_at: nowS(),
      next_billing_at: undefined,
      pause_date: undefined,
      resume_date: undefined,
      ...why,
    } satisfies Change
    return change(id, to, 'subscription_cancelled', by)
  }

  function pauseNow(id: string, by: Actor): BillerSubscription {
    usable(id, 'active')
    const to = { status: 'paused', pause_date: nowS(), next_billing_at: undefined } satisfies Change
    return change(id, to, 'subscription_paused', by)
  }

  function termFrom(startMs: number) {
    const end = secondsOf(startMs + TERM_MS)
    return { current_term_start: secondsOf(startMs), current_term_end: end, next_billing_at: end }
  }

  function renewTerm(subscription: BillerSubscription): BillerSubscription {
    const cycles = subscription.remaining_billing_cycles
    const left = cycles === undefined ? undefined : cycles - 1
    const term = termFrom(books.making().nowMs)
    renew(subscription)
    // The last term of a plan that has an end: nobody cancelled, so there is no time of a schedule either.
    const last: Change =
      left === 0
        ? { status: 'non_renewing', cancelled_at: term.current_term_end, next_billing_at: undefined }
        : { status: 'active' }
    const to = { ...term, ...(left === undefined ? {} : { remaining_billing_cycles: left }), ...last }
    return change(subscription.id, to, 'subscription_renewed', BY_ITSELF)
  }

  return {
    scheduleCancel(id, { by = OPERATOR, atMs, reasonCode } = {}) {
      const { current_term_end } = usable(id, 'active', 'in_trial')
      const to = {
        status: 'non_renewing',
        cancelled_at: atMs === undefined ? current_term_end : secondsOf(atMs),
        cancel_schedule_created_at: nowS(),
        cancel_reason_code: reasonCode,
        next_billing_at: undefined,
      } satisfies Change
      return change(id, to, 'subscription_cancellation_scheduled', by)
    },
    removeScheduledCancel(id, by = OPERATOR) {
      const { current_term_end } = usable(id, 'non_renewing')
      const to = {
        status: 'active',
        cancelled_at: undefined,
        cancel_schedule_created_at: undefined,
        cancel_reason_code: undefined,
        remaining_billing_cycles: undefined,
        next_billing_at: current_term_end,
      } satisfies Change
      return change(id, to, 'subscription_scheduled_cancellation_removed', by)
    },
    cancel: (id, { by = OPERATOR, reasonCode } = {}) =>
      end(id, { cancelled_at: nowS(), cancel_schedule_created_at: undefined, cancel_reason_code: reasonCode }, by),
    schedulePause(id, { by = OPERATOR, resumeAtMs } = {}) {
      const { current_term_end } = usable(id, 'active')
      const resume_date = resumeAtMs === undefined ? undefined : secondsOf(resumeAtMs)
      return change(id, { pause_date: current_term_end, resume_date }, 'subscription_pause_scheduled', by)
    },
    removeScheduledPause(id, by = OPERATOR) {
      usable(id, 'active')
      const to = { pause_date: undefined, resume_date: undefined }
      return change(id, to, 'subscription_scheduled_pause_removed', by)
    },
    pause: (id, by = OPERATOR) => pauseNow(id, by),
    scheduleResume(id, atMs, by = OPERATOR) {
      usable(id, 'paused')
      return change(id, { resume_date: secondsOf(atMs) }, 'subscription_resumption_scheduled', by)
    },
    resume(id, by = OPERATOR) {
      usable(id, 'paused')
      const to = { status: 'active', pause_date: undefined, resume_date: undefined } satisfies Change
      return change(id, { ...to, ...termFrom(books.making().nowMs) }, 'subscription_resumed', by)
    },
    change(id, { quantity }, by = OPERATOR) {
      const { subscription_items } = usable(id, 'active', 'in_trial', 'non_renewing')
      const items = subscription_items.map(item => ({
        ...item,
        quantity,
        amount: (item.unit_price ?? 0) * quantity,
      }))
      return change(id, { subscription_items: items }, 'subscription_changed', by)
    },
    endDunning: id => end(id, { cancelled_at: nowS(), cancel_reason: 'not_paid' }, BY_ITSELF),
    reactivate(id, by = OPERATOR) {
      usable(id, 'cancelled')
      const to = {
        status: 'active',
        cancelled_at: undefined,
        cancel_schedule_created_at: undefined,
        cancel_reason: undefined,
        cancel_reason_code: undefined,
        activated_at: nowS(),
      } satisfies Change
      return change(id, { ...to, ...termFrom(books.making().nowMs) }, 'subscription_reactivated', by)
    },
    endTerm(id) {
      const subscription = usable(id, 'active', 'in_trial', 'non_renewing', 'paused')
      const { cancelled_at } = subscription
      if (subscription.status === 'non_renewing') return end(id, { cancelled_at }, BY_ITSELF)
      if (subscription.status === 'paused') return this.resume(id, BY_ITSELF)
      if (subscription.pause_date !== undefined) return pauseNow(id, BY_ITSELF)
      return renewTerm(subscription)
    },
  }
}
