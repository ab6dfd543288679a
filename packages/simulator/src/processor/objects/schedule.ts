import type Stripe from 'stripe'
import type { ObjectContext } from '../object-context.ts'
import type { ProcessorSubscription } from './subscription.ts'

/** A subscription schedule of the API, with the plan of its phase by id. */
export type ProcessorSchedule = Stripe.SubscriptionSchedule

/** A schedule that ends or continues its subscription at the end of the current period. */
export function makeSchedule(
  { chance, created, livemode }: ObjectContext,
  subscription: ProcessorSubscription,
  endBehavior: 'cancel' | 'release',
): ProcessorSchedule {
  const [item] = subscription.items.data
  const phase = { start_date: item?.current_period_start ?? created, end_date: item?.current_period_end ?? created }
  const price = item?.price.id ?? ''
  return {
    id: `sub_sched_1${chance.text(23)}`,
    object: 'subscription_schedule',
    application: null,
    billing_mode: subscription.billing_mode,
    canceled_at: null,
    completed_at: null,
    created,
    current_phase: phase,
    customer: subscription.customer,
    customer_account: null,
    default_settings: {
      application_fee_percent: null,
      billing_cycle_anchor: 'automatic',
      billing_thresholds: null,
      collection_method: 'charge_automatically',
      default_payment_method: null,
      description: null,
      invoice_settings: {
        account_tax_ids: null,
        custom_fields: null,
        days_until_due: null,
        description: null,
        footer: null,
        issuer: { type: 'self' },
      },
      on_behalf_of: null,
      transfer_data: null,
    },
    end_behavior: endBehavior,
    livemode,
    metadata: {},
    pause_schedules: [],
    phases: [
      {
        ...phase,
        add_invoice_items: [],
        application_fee_percent: null,
        billing_cycle_anchor: null,
        billing_thresholds: null,
        collection_method: null,
        currency: subscription.currency,
        default_payment_method: null,
        default_tax_rates: [],
        description: null,
        discounts: [],
        invoice_settings: null,
        items: [
          { billing_thresholds: null, discounts: [], metadata: {}, plan: price, price, quantity: 1, tax_rates: [] },
        ],
        metadata: {},
        on_behalf_of: null,
        proration_behavior: 'create_prorations',
        transfer_data: null,
        trial_end: null,
      },
    ],
    released_at: null,
    released_subscription: null,
    status: 'active',
    subscription: subscription.id,
    test_clock: null,
  }
}
