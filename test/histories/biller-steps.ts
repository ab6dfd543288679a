/** Objects, events and steps of the subscription biller, with the fields of its reference (chargebee 3.33.0). */
import type { BillerObject } from './biller-api.ts'
import type { Shop } from './history.ts'

let events = 0

/** An event with the fields of the biller's reference (chargebee 3.33.0). Its content is only a hint for the product. */
export function event(type: string, at: number, content: object, more: object = {}): BillerObject {
  events += 1
  return {
    id: `ev_${events}`,
    object: 'event',
    occurred_at: at,
    source: 'admin_console',
    user: 'ops@example.com',
    api_version: 'v2',
    event_type: type,
    webhook_status: 'scheduled',
    webhooks: [],
    content,
    ...more,
  }
}

export function transaction(at: number, more: object = {}): BillerObject {
  return {
    id: 'txn_r1',
    object: 'transaction',
    type: 'refund',
    status: 'success',
    amount: 700,
    currency_code: 'EUR',
    date: at,
    gateway: 'stripe',
    id_at_gateway: 're_1',
    payment_method: 'card',
    refunded_txn_id: 'txn_p1',
    subscription_id: 'sub_1',
    customer_id: 'cus_1',
    linked_credit_notes: [],
    linked_refunds: [],
    updated_at: at,
    resource_version: at * 1000,
    deleted: false,
    ...more,
  }
}

export function creditNote(at: number, more: object = {}): BillerObject {
  return {
    id: 'CN-1',
    object: 'credit_note',
    customer_id: 'cus_1',
    subscription_id: 'sub_1',
    reference_invoice_id: 'INV-1',
    type: 'refundable',
    reason_code: 'service_unsatisfactory',
    status: 'refunded',
    total: 700,
    amount_allocated: 0,
    amount_refunded: 700,
    amount_available: 0,
    currency_code: 'EUR',
    date: at,
    updated_at: at,
    resource_version: at * 1000,
    linked_refunds: [],
    allocations: [],
    deleted: false,
    ...more,
  }
}

export const refundOf = (id: string, amount: number, at: number) => ({
  txn_id: id,
  applied_amount: amount,
  applied_at: at,
  txn_status: 'success',
  txn_date: at,
  txn_amount: amount,
})

export function subscription(at: number, more: object = {}): BillerObject {
  return {
    id: 'sub_1',
    object: 'subscription',
    customer_id: 'cus_1',
    status: 'active',
    current_term_end: at + 1_000_000,
    next_billing_at: at + 1_000_000,
    activated_at: at - 1_000_000,
    has_scheduled_changes: false,
    channel: 'web',
    updated_at: at,
    resource_version: at * 1000,
    deleted: false,
    ...more,
  }
}

export const endingLater = (at: number, effectiveAt = at + 1_000_000) => ({
  status: 'non_renewing',
  cancelled_at: effectiveAt,
  cancel_schedule_created_at: at,
})
export const ended = (at: number) => ({ status: 'cancelled', cancelled_at: at })

/** Adds a refund to the provider's API and posts an event about it. */
export async function postRefund(shop: Shop, more: object = {}, eventMore: object = {}): Promise<void> {
  const at = shop.now()
  const object = transaction(at, more)
  shop.setApiObject('transaction', object)
  await shop.post(event('payment_refunded', at, { transaction: object, customer: { id: 'cus_1' } }, eventMore))
}

/** Posts an event about a subscription that the provider's API knows. */
export async function postKnown(
  shop: Shop,
  type: string,
  at: number,
  object: BillerObject,
  more: object = {},
): Promise<void> {
  const known = event(type, at, { subscription: object, customer: { id: 'cus_1' } }, more)
  shop.setApiObject('subscription', object)
  shop.setApiObject('event', known)
  await shop.post(known)
}

/** A refund that was made outside of the biller, and recorded with a date from before the connection. */
export const olderCheque = (shop: Shop) => ({
  payment_method: 'check',
  gateway: 'not_applicable',
  id_at_gateway: undefined,
  date: shop.now() - 40 * 86_400,
})

/** The last term of a plan, or a set end at a site that does not say when ends are set. */
export const lastTerm = (at: number, end: number, more: object = {}) =>
  subscription(at, {
    status: 'non_renewing',
    cancelled_at: end,
    current_term_end: end,
    next_billing_at: undefined,
    remaining_billing_cycles: 0,
    ...more,
  })

export async function postSubscription(shop: Shop, type: string, at: number, more: object): Promise<void> {
  const object = subscription(at, more)
  shop.setApiObject('subscription', object)
  await shop.post(event(type, at, { subscription: object, customer: { id: 'cus_1' } }))
}

export const reportRefund = (shop: Shop, more: Record<string, unknown> = {}) =>
  shop.report({ subject: 'sub_1', amount: 700, currency: 'eur', state: 'completed', ...more })
export const reportCancellation = (shop: Shop, more: Record<string, unknown> = {}) =>
  shop.report({ kind: 'cancellation', subject: 'sub_1', state: 'completed', ...more })

export const unexplainedRefund = { verdicts: ['refund txn_r1 unexplained'], alerts: ['opened txn_r1'] }
export const explainedRefund = { verdicts: ['refund txn_r1 explained'], alerts: [] }
export const noActions = { verdicts: [], alerts: [] }
export const unexplainedCancellation = { verdicts: ['cancellation sub_1 unexplained'], alerts: ['opened sub_1'] }
export const explainedCancellation = { verdicts: ['cancellation sub_1 explained'], alerts: [] }
export const notAlertedCancellation = { verdicts: ['cancellation sub_1 not_alerted'], alerts: [] }
