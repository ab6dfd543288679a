/** Objects and events of the card processor, with the fields of its API reference (stripe-node 23.1.0). */

interface EventOptions {
  readonly id?: string
  readonly at: number
  readonly previous?: object
  /** The request that caused the event; null if there was none. */
  readonly request?: { readonly id: string | null; readonly idempotency_key: string | null } | null
}

let events = 0

export function event(type: string, object: object, { id, at, previous, request }: EventOptions): object {
  events += 1
  return {
    id: id ?? `evt_${events}`,
    object: 'event',
    api_version: '2026-10-28.endive',
    created: at,
    livemode: true,
    pending_webhooks: 1,
    type,
    request: request === undefined ? { id: `req_${events}`, idempotency_key: null } : request,
    data: { object, ...(previous === undefined ? {} : { previous_attributes: previous }) },
  }
}

/** The request that created a refund. All events about the creation have this request. */
export const requestOfRefund = (id: string) => ({ id: `req_${id}`, idempotency_key: null })

export const requestWithKey = (key: string) => ({ id: `req_${key}`, idempotency_key: key })

export function refund(id: string, amount: number, created: number, more: object = {}): object {
  return {
    id,
    object: 'refund',
    amount,
    balance_transaction: `txn_${id}`,
    charge: 'ch_1',
    created,
    currency: 'eur',
    metadata: {},
    payment_intent: 'pi_1',
    reason: 'requested_by_customer',
    receipt_number: null,
    source_transfer_reversal: null,
    status: 'succeeded',
    transfer_reversal: null,
    ...more,
  }
}

export function charge(amountRefunded: number, more: object = {}): object {
  return {
    id: 'ch_1',
    object: 'charge',
    amount: 10_000,
    amount_captured: 10_000,
    amount_refunded: amountRefunded,
    captured: true,
    currency: 'eur',
    customer: 'cus_1',
    disputed: false,
    metadata: {},
    paid: true,
    payment_intent: 'pi_1',
    refunded: amountRefunded === 10_000,
    status: 'succeeded',
    ...more,
  }
}

export function subscription(more: object = {}): object {
  return {
    id: 'sub_1',
    object: 'subscription',
    billing_mode: { type: 'flexible' },
    cancel_at: null,
    cancel_at_period_end: false,
    canceled_at: null,
    cancellation_details: { comment: null, feedback: null, reason: null },
    collection_method: 'charge_automatically',
    customer: 'cus_1',
    ended_at: null,
    latest_invoice: 'in_1',
    livemode: true,
    metadata: {},
    pause_collection: null,
    schedule: null,
    status: 'active',
    trial_end: null,
    ...more,
  }
}

const REQUESTED = { comment: null, feedback: null, reason: 'cancellation_requested' }

/** A subscription with a scheduled end. */
export const endingSubscription = (requestedAt: number, more: object = {}): object =>
  subscription({
    cancel_at: requestedAt + 2_000_000,
    canceled_at: requestedAt,
    cancellation_details: REQUESTED,
    ...more,
  })

/** A subscription that has ended. */
export const endedSubscription = (requestedAt: number, endedAt: number, more: object = {}): object =>
  subscription({
    status: 'canceled',
    canceled_at: requestedAt,
    ended_at: endedAt,
    cancellation_details: REQUESTED,
    ...more,
  })
