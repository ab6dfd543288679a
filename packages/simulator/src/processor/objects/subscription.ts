import type Stripe from 'stripe'
import type { ObjectContext } from '../object-context.ts'

/** The official types have decimal amounts in parsed form; in JSON they are strings. */
type Price = Omit<Stripe.Price, 'unit_amount_decimal'> & { unit_amount_decimal: string }
type Plan = Omit<Stripe.Plan, 'amount_decimal'> & { amount_decimal: string }
type Item = Omit<Stripe.SubscriptionItem, 'price' | 'plan'> & { price: Price; plan: Plan }

/** A subscription as in the API and in events. */
export type ProcessorSubscription = Omit<Stripe.Subscription, 'items'> & { items: Stripe.ApiList<Item> }

export interface SubscriptionFields {
  customerId: string
  /** Minor units per month. */
  amount: number
  /** ISO 4217, any case. */
  currency: string
  /** In `flexible` mode the customer portal schedules a cancellation by `cancel_at` only. */
  billingMode: 'classic' | 'flexible'
  metadata: Record<string, string>
  /** End of the current period, Unix time in seconds. */
  periodEnd: number
  /** Id of the paid invoice. */
  latestInvoice: string
}

/** An active monthly subscription whose first period is paid by card. */
export function makeSubscription(context: ObjectContext, fields: SubscriptionFields): ProcessorSubscription {
  const { chance, created, livemode } = context
  const id = `sub_1${chance.text(23)}`
  return {
    id,
    object: 'subscription',
    application: null,
    application_fee_percent: null,
    automatic_tax: { disabled_reason: null, enabled: false, liability: null },
    billing_cycle_anchor: created,
    billing_cycle_anchor_config: null,
    billing_mode: { flexible: fields.billingMode === 'flexible' ? {} : null, type: fields.billingMode },
    billing_schedules: [],
    billing_thresholds: null,
    cancel_at: null,
    cancel_at_period_end: false,
    canceled_at: null,
    cancellation_details: { comment: null, feedback: null, feedback_option: null, reason: null },
    collection_method: 'charge_automatically',
    created,
    currency: fields.currency.toLowerCase(),
    customer: fields.customerId,
    customer_account: null,
    days_until_due: null,
    default_payment_method: `pm_1${chance.text(23)}`,
    default_source: null,
    default_tax_rates: [],
    description: null,
    discounts: [],
    ended_at: null,
    invoice_settings: {
      account_tax_ids: null,
      custom_fields: null,
      description: null,
      footer: null,
      issuer: { type: 'self' },
    },
    items: {
      object: 'list',
      data: [makeItem(context, fields, id)],
      has_more: false,
      url: `/v1/subscription_items?subscription=${id}`,
    },
    latest_invoice: fields.latestInvoice,
    livemode,
    managed_payments: null,
    metadata: fields.metadata,
    next_pending_invoice_item_invoice: null,
    on_behalf_of: null,
    pause_collection: null,
    payment_settings: {
      payment_method_options: null,
      payment_method_types: null,
      save_default_payment_method: 'off',
    },
    pending_invoice_item_interval: null,
    pending_setup_intent: null,
    pending_update: null,
    schedule: null,
    start_date: created,
    status: 'active',
    test_clock: null,
    transfer_data: null,
    trial_end: null,
    trial_settings: { end_behavior: { billing_cycle_anchor: null, missing_payment_method: 'create_invoice' } },
    trial_start: null,
  }
}

function makeItem(context: ObjectContext, fields: SubscriptionFields, subscription: string): Item {
  const { chance, created, livemode } = context
  const currency = fields.currency.toLowerCase()
  const product = `prod_${chance.text(14)}`
  const priceId = `price_1${chance.text(23)}`
  return {
    id: `si_${chance.text(14)}`,
    object: 'subscription_item',
    billing_thresholds: null,
    created,
    current_period_end: fields.periodEnd,
    current_period_start: created,
    current_trial: null,
    discounts: [],
    metadata: {},
    plan: {
      id: priceId,
      object: 'plan',
      active: true,
      amount: fields.amount,
      amount_decimal: String(fields.amount),
      billing_scheme: 'per_unit',
      created,
      currency,
      interval: 'month',
      interval_count: 1,
      livemode,
      metadata: {},
      meter: null,
      nickname: 'Team plan, monthly',
      product,
      tiers_mode: null,
      transform_usage: null,
      trial_period_days: null,
      usage_type: 'licensed',
    },
    price: {
      id: priceId,
      object: 'price',
      active: true,
      billing_scheme: 'per_unit',
      created,
      currency,
      custom_unit_amount: null,
      livemode,
      lookup_key: null,
      metadata: {},
      nickname: 'Team plan, monthly',
      product,
      recurring: { interval: 'month', interval_count: 1, meter: null, trial_period_days: null, usage_type: 'licensed' },
      tax_behavior: 'unspecified',
      tiers_mode: null,
      transform_quantity: null,
      type: 'recurring',
      unit_amount: fields.amount,
      unit_amount_decimal: String(fields.amount),
    },
    quantity: 1,
    subscription,
    tax_rates: [],
  }
}
