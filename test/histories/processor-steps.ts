/** Steps of histories at the card processor. */
import type { Shop } from './history.ts'
import { charge, endedSubscription, endingSubscription, event, refund, requestOfRefund } from './processor-shapes.ts'

/** Reports an executing refund of 700 on the payment. */
export const reportRefund = (shop: Shop, more: Record<string, unknown> = {}) =>
  shop.report({ subject: 'pi_1', amount: 700, currency: 'eur', state: 'executing', ...more })

export const postCreated = (shop: Shop, id: string, amount: number, more: object = {}, options: object = {}) =>
  shop.post(
    event('refund.created', refund(id, amount, shop.now(), more), {
      at: shop.now(),
      request: requestOfRefund(id),
      ...options,
    }),
  )
export const postUpdated = (shop: Shop, id: string, amount: number, status: string, more: object = {}) =>
  shop.post(
    event('refund.updated', refund(id, amount, shop.now(), { status, ...more }), {
      at: shop.now(),
      previous: { status: 'pending' },
    }),
  )
export const postTotal = (shop: Shop, to: number, from: number | null, more: object = {}, options: object = {}) =>
  shop.post(
    event('charge.refunded', charge(to, more), {
      at: shop.now(),
      request: requestOfRefund('another'),
      ...(from === null ? {} : { previous: { amount_refunded: from } }),
      ...options,
    }),
  )

export const UPDATED = 'customer.subscription.updated'
export const DELETED = 'customer.subscription.deleted'

/** Reports a cancellation of the subscription. */
export const reportCancellation = (shop: Shop, more: Record<string, unknown> = {}) =>
  shop.report({ kind: 'cancellation', subject: 'sub_1', state: 'completed', ...more })

export const postScheduledEnd = (shop: Shop, at = shop.now(), options: object = {}, more: object = {}) =>
  shop.post(
    event(UPDATED, endingSubscription(at, more), {
      at,
      previous: { cancel_at: null, canceled_at: null, cancellation_details: { reason: null } },
      ...options,
    }),
  )
export const postDeleted = (
  shop: Shop,
  requestedAt: number,
  endedAt: number,
  options: object = {},
  more: object = {},
) => shop.post(event(DELETED, endedSubscription(requestedAt, endedAt, more), { at: endedAt, ...options }))
export const withoutRequest = { request: { id: null, idempotency_key: null } }
export const withReason = (reason: string) => ({ cancellation_details: { comment: null, feedback: null, reason } })
