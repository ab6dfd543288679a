/** The software of a shop that bills through three providers. It knows nothing of Backstop. */
import type { Paddle } from '@paddle/paddle-node-sdk'
import type Chargebee from 'chargebee'
import type Stripe from 'stripe'

export interface ShopClients {
  readonly stripe: Stripe
  readonly paddle: Paddle
  readonly chargebee: Chargebee
}

/** What the shop's customers bought, by the ids of the providers. */
export interface Purchases {
  readonly payments: readonly [whole: string, part: string, byCharge: string]
  readonly subscriptions: readonly [now: string, later: string, byRawRequest: string]
  readonly transactions: readonly [whole: string, part: { readonly id: string; readonly item: string }]
  readonly resold: readonly [now: string, later: string]
  readonly invoice: string
  readonly creditNote: string
  readonly billed: readonly [now: string, later: string]
}

/** The shop's refunds and cancellations, each of them one call of a library. */
export function callsOfShop({ stripe, paddle, chargebee }: ShopClients, bought: Purchases): (() => Promise<unknown>)[] {
  const { payments, subscriptions, transactions, resold, billed } = bought
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
        transactionId: part.id,
        items: [{ itemId: part.item, type: 'partial', amount: '900' }],
      }),
    () => paddle.subscriptions.cancel(resold[0], { effectiveFrom: 'immediately' }),
    () => paddle.subscriptions.cancel(resold[1]),
    () => chargebee.invoice.refund(bought.invoice, { refund_amount: 800 }),
    () => chargebee.creditNote.refund(bought.creditNote),
    () => chargebee.subscription.cancelForItems(billed[0], { cancel_option: 'immediately' }),
    () => chargebee.subscription.cancelForItems(billed[1], { end_of_term: true }),
  ]
}
