/**
 * A subscription biller's site in memory: customers, subscriptions, invoices, payments, credit notes, refunds and their events.
 * It behaves like a real site (compatible with Chargebee): a refund has a credit note unless it is of an excess payment, a
 * cancellation can be removed, and events say who caused them.
 */
import type { EventSource } from '../account/event-feed.ts'
import { type Chance, createChance } from '../chance.ts'
import { type AccountState, type BillerRecords, createAccountState } from './account-state.ts'
import type { Actor, BillerEvent } from './events.ts'
import { type BillerCustomer, makeCard, makeCustomer, type Person } from './objects/customer.ts'
import { type BillerInvoice, makeInvoice } from './objects/invoice.ts'
import { type BillerSubscription, makeSubscription } from './objects/subscription.ts'
import { type BillerTransaction, makePayment } from './objects/transaction.ts'
import { BY_ITSELF, type RefundActions, refundActions } from './refunds.ts'
import { type SubscriptionActions, subscriptionActions, TERM_MS } from './subscriptions.ts'

export interface BillerOptions {
  /** Milliseconds since the epoch, e.g. `Date.now`. */
  now: () => number
  /** The source of ids. */
  chance?: Chance
}

export interface BillRequest {
  /** Minor units of `currency`. */
  amount: number
  /** ISO 4217 in upper case; EUR by default. */
  currency?: string
  /** The payment's id at the gateway; random by default. With the card processor as the gateway, the charge's id. */
  idAtGateway?: string
  method?: 'card' | 'direct_debit'
  by?: Actor
  /** The new customer; a made-up person by default. */
  person?: Person
}

/** The objects of a purchase. */
export interface Bill {
  customer: BillerCustomer
  invoice: BillerInvoice
  payment: BillerTransaction
}

export interface Biller extends EventSource<BillerEvent>, RefundActions, SubscriptionActions {
  readonly kind: 'subscription'
  /** Bills a one-time payment. Emits invoice_generated and payment_succeeded. */
  bill(request: BillRequest): Bill
  /**
   * Creates a subscription whose first term is paid. Emits subscription_created, invoice_generated and payment_succeeded.
   * A plan with `remainingBillingCycles` ends after this many further terms.
   * @param request `id` as chosen by the merchant; random by default
   */
  subscribe(
    request: BillRequest & { remainingBillingCycles?: number; id?: string },
  ): Bill & { subscription: BillerSubscription }
  /** Lets a renewal payment fail. Emits payment_failed. */
  missPayment(subscriptionId: string): BillerTransaction
  /** The state of the site at a given time, in milliseconds since the epoch. */
  asOf(ms: number): BillerRecords
}

/** Creates an empty site. */
export function createBiller({ now, chance = createChance() }: BillerOptions): Biller {
  const state = createAccountState(now, chance)

  function welcome({ person }: BillRequest): BillerCustomer {
    const customer = state.customers.put(makeCustomer(state.context(), person))
    state.cards.put({ ...makeCard(state.context(), customer.id), id: customer.id })
    return customer
  }

  function renew(subscription: BillerSubscription): void {
    const amount = subscription.subscription_items.reduce((sum, item) => sum + (item.amount ?? 0), 0)
    collect(state, {
      request: { amount, currency: subscription.currency_code, by: BY_ITSELF },
      customerId: subscription.customer_id,
      subscription,
    })
  }

  return {
    kind: 'subscription',
    bill(request) {
      const customer = welcome(request)
      return { customer, ...collect(state, { request, customerId: customer.id }) }
    },
    subscribe(request) {
      const { amount, currency = 'EUR', remainingBillingCycles, id, by = { source: 'hosted_page' } } = request
      const customer = welcome(request)
      const termEndMs = now() + TERM_MS
      const fields = { id, customerId: customer.id, amount, currency, termEndMs, remainingBillingCycles }
      const subscription = state.subscriptions.put(makeSubscription(state.context(), fields))
      const content = { subscription, ...state.buyer(customer.id) }
      state.emit({ event_type: 'subscription_created', content }, by)
      return { customer, subscription, ...collect(state, { request, customerId: customer.id, subscription }) }
    },
    missPayment(subscriptionId) {
      const subscription = state.subscriptions.existing(subscriptionId)
      const request = { amount: subscription.mrr ?? 0, currency: subscription.currency_code, by: BY_ITSELF }
      return collect(state, { request, customerId: subscription.customer_id, subscription }, 'failure').payment
    },
    ...refundActions(state),
    ...subscriptionActions(state, renew),
    asOf: state.asOf,
    events: state.feed.events,
    onEvent: state.feed.onEvent,
    notePosting: state.feed.notePosting,
  }
}

/** Creates an invoice and tries to collect it. */
function collect(
  state: AccountState,
  sale: { request: BillRequest; customerId: string; subscription?: BillerSubscription },
  status: 'success' | 'failure' = 'success',
): { invoice: BillerInvoice; payment: BillerTransaction } {
  const { customerId, subscription } = sale
  const { amount, currency = 'EUR', method = 'card', by = { source: 'hosted_page' } } = sale.request
  const id = state.nextNumber('INV')
  const made = state.invoices.put(
    makeInvoice(state.context(), {
      id,
      customerId,
      subscriptionId: subscription?.id,
      amount,
      currency,
      description: subscription === undefined ? 'Setup' : 'Team plan',
    }),
  )
  const payment = state.transactions.put(
    makePayment(state.context(), {
      customerId,
      subscriptionId: subscription?.id,
      amount,
      currency,
      status,
      method,
      idAtGateway: sale.request.idAtGateway ?? `ch_3${state.context().chance.text(23)}`,
      invoiceId: id,
      invoiceTotal: amount,
    }),
  )
  const invoice = state.invoices.change(id, status === 'success' ? paidBy(payment) : { status: made.status })
  state.emit({ event_type: 'invoice_generated', content: { invoice } }, by)
  const about = { transaction: payment, invoice, ...state.buyer(customerId) }
  const content = subscription === undefined ? about : { ...about, subscription }
  state.emit({ event_type: status === 'success' ? 'payment_succeeded' : 'payment_failed', content }, by)
  return { invoice, payment }
}

function paidBy(payment: BillerTransaction): Partial<BillerInvoice> {
  return {
    status: 'paid',
    paid_at: payment.date,
    amount_paid: payment.amount,
    amount_due: 0,
    amount_to_collect: 0,
    linked_payments: [
      {
        txn_id: payment.id,
        applied_amount: payment.amount,
        applied_at: payment.date,
        txn_status: payment.status,
        txn_date: payment.date,
        txn_amount: payment.amount,
      },
    ],
  }
}
