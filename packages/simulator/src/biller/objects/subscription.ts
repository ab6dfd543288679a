import type { Subscription } from 'chargebee'
import { makeId, type ObjectContext, secondsOf, versionOf } from '../object-context.ts'

/** A subscription as in the API and in events. */
export type BillerSubscription = Subscription & {
  object: 'subscription'
  current_term_start: number
  current_term_end: number
  subscription_items: Subscription.SubscriptionItem[]
}

export interface SubscriptionFields {
  /** The id chosen by the merchant; undefined for a random one. */
  readonly id: string | undefined
  customerId: string
  /** Minor units per month. */
  amount: number
  /** ISO 4217 in upper case. */
  currency: string
  /** End of the current term, in milliseconds since the epoch. */
  termEndMs: number
  /** The number of terms after this one; unlimited if undefined. */
  remainingBillingCycles: number | undefined
}

/** An active monthly subscription with a paid first term. Without further terms it does not renew. */
export function makeSubscription(context: ObjectContext, fields: SubscriptionFields): BillerSubscription {
  const start = secondsOf(context.nowMs)
  const end = secondsOf(fields.termEndMs)
  const cycles = fields.remainingBillingCycles
  const isLast = cycles === 0
  return {
    id: fields.id ?? context.chance.text(16),
    object: 'subscription',
    customer_id: fields.customerId,
    status: isLast ? 'non_renewing' : 'active',
    currency_code: fields.currency,
    billing_period: 1,
    billing_period_unit: 'month',
    start_date: start,
    created_at: start,
    started_at: start,
    activated_at: start,
    current_term_start: start,
    current_term_end: end,
    ...(isLast ? { cancelled_at: end } : { next_billing_at: end }),
    ...(cycles === undefined ? {} : { remaining_billing_cycles: cycles }),
    auto_collection: 'on',
    channel: 'web',
    payment_source_id: makeId('pm', context),
    subscription_items: [
      {
        item_price_id: 'team-EUR-Monthly',
        item_type: 'plan',
        quantity: 1,
        unit_price: fields.amount,
        amount: fields.amount,
        free_quantity: 0,
      },
    ],
    due_invoices_count: 0,
    mrr: fields.amount,
    exchange_rate: 1,
    base_currency_code: fields.currency,
    has_scheduled_changes: false,
    has_scheduled_advance_invoices: false,
    create_pending_invoices: false,
    auto_close_invoices: true,
    override_relationship: false,
    decommissioned: false,
    deleted: false,
    ...versionOf(context),
  }
}
