import type { ICustomData, ISubscriptionNotificationResponse, ISubscriptionResponse } from '@paddle/paddle-node-sdk'
import { makeId, type ObjectContext, type ResellerCurrency, timeAt } from '../object-context.ts'
import type { CatalogEntry } from './catalog.ts'

/** A subscription as in the API, without discounts. */
export type ResellerSubscription = ISubscriptionResponse & { discount: null }

export interface SubscriptionFields {
  currency: ResellerCurrency
  sold: CatalogEntry
  customerId: string
  addressId: string
  customData: ICustomData | null
  /** End of the current period, in milliseconds since the epoch. */
  periodEndMs: number
}

/** An active monthly subscription whose first period is paid. */
export function makeSubscription(context: ObjectContext, fields: SubscriptionFields): ResellerSubscription {
  const madeAt = timeAt(context.nowMs)
  const endsAt = timeAt(fields.periodEndMs)
  const id = makeId('sub', context)
  return {
    id,
    status: 'active',
    customer_id: fields.customerId,
    address_id: fields.addressId,
    business_id: null,
    currency_code: fields.currency,
    created_at: madeAt,
    updated_at: madeAt,
    started_at: madeAt,
    first_billed_at: madeAt,
    next_billed_at: endsAt,
    paused_at: null,
    canceled_at: null,
    discount: null,
    collection_mode: 'automatic',
    billing_details: null,
    current_billing_period: { starts_at: madeAt, ends_at: endsAt },
    billing_cycle: { interval: 'month', frequency: 1 },
    scheduled_change: null,
    management_urls: {
      update_payment_method: `https://buyer-portal.example/subscriptions/${id}/update-payment-method`,
      cancel: `https://buyer-portal.example/subscriptions/${id}/cancel`,
    },
    items: [
      {
        status: 'active',
        quantity: 1,
        recurring: true,
        created_at: madeAt,
        updated_at: madeAt,
        previously_billed_at: madeAt,
        next_billed_at: endsAt,
        trial_dates: null,
        price: fields.sold.price,
        product: fields.sold.product,
      },
    ],
    custom_data: fields.customData,
    import_meta: null,
  }
}

/** The subscription as in events: without its management links. */
export function notifiedSubscription(subscription: ResellerSubscription): ISubscriptionNotificationResponse {
  const { management_urls, next_transaction, recurring_transaction_details, ...notified } = subscription
  return notified
}
