/** The software of a shop that bills through three providers. It knows nothing of Backstop. */
import type { Paddle } from '@paddle/paddle-node-sdk'
import type Chargebee from 'chargebee'
import type Stripe from 'stripe'
import type { Purchases } from './shop.ts'

export interface ShopClients {
  readonly stripe: Stripe
  readonly paddle: Paddle
  readonly chargebee: Chargebee
}

/** The shop's refunds and cancellations, each of them one call of a library. */
export function callsOfShop({ stripe, paddle, chargebee }: ShopClients, bought: Purchases): (() => Promise<unknown>)[] {
  const { payments, subscriptions, transactions, item, resold, billed } = bought
  const [whole, part] = transactions
  return [
    () => stripe.refunds.create({ payment_intent: payments[0] }),
    () => stripe.refunds.create({ payment_intent: payments[1], amount: 700 }),
    () => stripe.refunds.create({ charge: payments[2], amount: 300 }, { idempotencyKey: `goodwill-${payments[2]}` }),
    () => stripe.subscriptions.cancel(subscriptions[0]),
    () => stripe.subscriptions.update(subscriptions[1], { cancel_at_period_end: true }),
    () => stripe.rawRequest('DELETE', `/v1/subscriptions/${subscriptions[2]}`),
    () => paddle.adjustments.create({ action: 'refund', reason: 'r', transactionId: whole, type: 'full' }),
    () =>
      paddle.adjustments.create({
        action: 'refund',
        reason: 'r',
        transactionId: part,
        items: [{ itemId: item, type: 'partial', amount: '900' }],
      }),
    () => paddle.subscriptions.cancel(resold[0], { effectiveFrom: 'immediately' }),
    () => paddle.subscriptions.cancel(resold[1]),
    () => chargebee.invoice.refund(bought.invoice, { refund_amount: 800 }),
    () => chargebee.creditNote.refund(bought.creditNote),
    () => chargebee.subscription.cancelForItems(billed[0], { cancel_option: 'immediately' }),
    () => chargebee.subscription.cancelForItems(billed[1], { end_of_term: true }),
  ]
}
