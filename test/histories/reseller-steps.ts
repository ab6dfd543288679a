/** Objects, events and steps of the reseller, with the fields of its reference (@paddle/paddle-node-sdk 3.10.0). */
import { isoOf, type Shop } from './history.ts'

let events = 0

/** An event with the fields of the reseller's reference (@paddle/paddle-node-sdk 3.10.0). */
export function event(type: string, data: object, at: number, id?: string): object {
  events += 1
  const serial = String(events).padStart(26, '0')
  return {
    event_id: id ?? `evt_${serial}`,
    event_type: type,
    occurred_at: isoOf(at),
    notification_id: `ntf_${serial}`,
    data,
  }
}

export function adjustment(at: number, more: object = {}, amount = '700'): object {
  return {
    id: 'adj_1',
    action: 'refund',
    type: 'partial',
    transaction_id: 'txn_1',
    subscription_id: 'sub_1',
    customer_id: 'ctm_1',
    reason: 'customer request',
    credit_applied_to_balance: null,
    currency_code: 'EUR',
    status: 'pending_approval',
    items: [],
    totals: { subtotal: amount, tax: '0', total: amount, fee: '35', earnings: '665', currency_code: 'EUR' },
    payout_totals: null,
    created_at: isoOf(at),
    updated_at: isoOf(at),
    ...more,
  }
}

function subscription(at: number, more: object = {}): object {
  return {
    id: 'sub_1',
    status: 'active',
    customer_id: 'ctm_1',
    address_id: 'add_1',
    business_id: null,
    currency_code: 'EUR',
    created_at: '2025-01-01T00:00:00Z',
    updated_at: isoOf(at),
    started_at: '2025-01-01T00:00:00Z',
    first_billed_at: '2025-01-01T00:00:00Z',
    next_billed_at: isoOf(at + 1_000_000),
    paused_at: null,
    canceled_at: null,
    collection_mode: 'automatic',
    current_billing_period: { starts_at: isoOf(at - 1_000_000), ends_at: isoOf(at + 1_000_000) },
    scheduled_change: null,
    items: [],
    discount: null,
    custom_data: null,
    import_meta: null,
    ...more,
  }
}

export const endingWith = (at: number, effectiveAt = at + 1_000_000) => ({
  next_billed_at: null,
  scheduled_change: { action: 'cancel', effective_at: isoOf(effectiveAt), resume_at: null },
})
export const ended = (at: number) => ({
  status: 'canceled',
  canceled_at: isoOf(at),
  next_billed_at: null,
  current_billing_period: null,
})

export const postRequest = (shop: Shop, more: object = {}, amount = '700') =>
  shop.post(event('adjustment.created', adjustment(shop.now(), more, amount), shop.now()))
export const postReview = (shop: Shop, createdAt: number, status: string, more: object = {}) => {
  // Two seconds later, so that the review is after the request also on a slow machine.
  const at = shop.now() + 2
  return shop.post(event('adjustment.updated', adjustment(createdAt, { status, updated_at: isoOf(at), ...more }), at))
}
export const reportRefund = (shop: Shop, more: Record<string, unknown> = {}) =>
  shop.report({ subject: 'txn_1', amount: 700, currency: 'eur', state: 'executing', ...more })
export const reportCancellation = (shop: Shop, more: Record<string, unknown> = {}) =>
  shop.report({ kind: 'cancellation', subject: 'sub_1', state: 'completed', ...more })
export const postSubscription = (shop: Shop, type: string, at: number, more: object = {}) =>
  shop.post(event(type, subscription(at, more), at))
