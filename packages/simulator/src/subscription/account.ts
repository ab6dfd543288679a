/**
 * A subscription biller's site, kept in memory: customers, subscriptions, invoices, payments, credit notes, refunds and
 * the events about them. It changes the way a real site does (compatible with Chargebee): a refund has a credit note
 * beside it unless it is of excess, a cancellation may be taken back, and events say who did it.
 */
import type { EventSource, Posting } from '../account/event-feed.ts'
import type { View } from '../account/object-history.ts'
import { type Chance, createChance } from '../chance.ts'
import { type Books, openBooks } from './account-state.ts'
import type { Actor, BillerEvent } from './events.ts'
import type { BillerCreditNote } from './objects/credit-note.ts'
import { type BillerCard, type BillerCustomer, makeCard, makeCustomer } from './objects/customer.ts'
import { type BillerInvoice, makeInvoice } from './objects/invoice.ts'
import { type BillerSubscription, makeSubscription } from './objects/subscription.ts'
import { type BillerTransaction, makePayment } from './objects/transaction.ts'
import { BY_ITSELF, type RefundActions, refundActions } from './refunds.ts'
import { type SubscriptionActions, subscriptionActions, TERM_MS } from './subscriptions.ts'

export interface SubscriptionBillerOptions {
  /** Milliseconds since the epoch, e.g. `Date.now`. */
  now: () => number
  /** Ids come from it. */
  chance?: Chance
}

export interface BillRequest {
  /** Minor units of `currency`. */
  amount: number
  /** ISO 4217 in upper case; EUR when left out. */
  currency?: string
  /** What the gateway calls the payment; made up when left out. With the card processor beside it, that charge's id. */
  idAtGateway?: string
  method?: 'card' | 'direct_debit'
  by?: Actor
}

/** What somebody paid for. */
export interface Bill {
  customer: BillerCustomer
  invoice: BillerInvoice
  payment: BillerTransaction
}

/** The site as it stood at one time. */
export interface BillerRecords {
  readonly customers: View<BillerCustomer>
  readonly cards: View<BillerCard>
  readonly subscriptions: View<BillerSubscription>
  readonly invoices: View<BillerInvoice>
  readonly transactions: View<BillerTransaction>
  readonly creditNotes: View<BillerCreditNote>
  events(): readonly BillerEvent[]
  /** What is known of the posting of an event. */
  postingOf(event: BillerEvent): Posting
}

export interface SubscriptionBiller extends EventSource<BillerEvent>, RefundActions, SubscriptionActions {
  readonly kind: 'subscription'
  /** Somebody pays once. Leaves invoice_generated and payment_succeeded. */
  bill(request: BillRequest): Bill
  /**
   * Somebody subscribes and pays the first term. Leaves subscription_created, invoice_generated and payment_succeeded.
   * A plan with `remainingBillingCycles` ends by itself after so many further terms.
   * @param request `id` as the merchant chooses it; made up when left out
   */
  subscribe(
    request: BillRequest & { remainingBillingCycles?: number; id?: string },
  ): Bill & { subscription: BillerSubscription }
  /** A renewal cannot be collected. Leaves payment_failed. */
  missPayment(subscriptionId: string): BillerTransaction
  /** The site as it stood at that time, in milliseconds since the epoch. */
  asOf(ms: number): BillerRecords
}

/** An empty site. */
export function createSubscriptionBiller({
  now,
  chance = createChance(),
}: SubscriptionBillerOptions): SubscriptionBiller {
  const books = openBooks(now, chance)

  function welcome(): BillerCustomer {
    const customer = books.customers.put(makeCustomer(books.making()))
    books.cards.put({ ...makeCard(books.making(), customer.id), id: customer.id })
    return customer
  }

  function renew(subscription: BillerSubscription): void {
    const amount = subscription.subscription_items.reduce((sum, item) => sum + (item.amount ?? 0), 0)
    collect(books, {
      request: { amount, currency: subscription.currency_code, by: BY_ITSELF },
      customerId: subscription.customer_id,
      subscription,
    })
  }

  return {
    kind: 'subscription',
    bill(request) {
      const customer = welcome()
      return { customer, ...collect(books, { request, customerId: customer.id }) }
    },
    subscribe(request) {
      const { amount, currency = 'EUR', remainingBillingCycles, id, by = { source: 'hosted_page' } } = request
      const customer = welcome()
      const termEndMs = now() + TERM_MS
      const fields = { id, customerId: customer.id, amount, currency, termEndMs, remainingBillingCycles }
      const subscription = books.subscriptions.put(makeSubscription(books.making(), fields))
      const content = { subscription, ...books.buyer(customer.id) }
      books.emit({ event_type: 'subscription_created', content }, by)
      return { customer, subscription, ...collect(books, { request, customerId: customer.id, subscription }) }
    },
    missPayment(subscriptionId) {
      const subscription = books.subscriptions.existing(subscriptionId)
      const request = { amount: subscription.mrr ?? 0, currency: subscription.currency_code, by: BY_ITSELF }
      return collect(books, { request, customerId: subscription.customer_id, subscription }, 'failure').payment
    },
    ...refundActions(books),
    ...subscriptionActions(books, renew),
    asOf: ms => ({
      customers: books.customers.asOf(ms),
      cards: books.cards.asOf(ms),
      subscriptions: books.subscriptions.asOf(ms),
      invoices: books.invoices.asOf(ms),
      transactions: books.transactions.asOf(ms),
      creditNotes: books.creditNotes.asOf(ms),
      events: () => books.feed.asOf(ms),
      postingOf: books.feed.postingOf,
    }),
    events: books.feed.events,
    onEvent: books.feed.onEvent,
    notePosting: books.feed.notePosting,
  }
}

/** Makes an invoice and tries to collect it. */
function collect(
  books: Books,
  sale: { request: BillRequest; customerId: string; subscription?: BillerSubscription },
  status: 'success' | 'failure' = 'success',
): { invoice: BillerInvoice; payment: BillerTransaction } {
  const { customerId, subscription } = sale
  const { amount, currency = 'EUR', method = 'card', by = { source: 'hosted_page' } } = sale.request
  const id = books.nextNumber('INV')
  const made = books.invoices.put(
    makeInvoice(books.making(), {
      id,
      customerId,
      subscriptionId: subscription?.id,
      amount,
      currency,
      description: subscription === undefined ? 'Setup' : 'Team plan',
    }),
  )
  const payment = books.transactions.put(
    makePayment(books.making(), {
      customerId,
      subscriptionId: subscription?.id,
      amount,
      currency,
      status,
      method,
      idAtGateway: sale.request.idAtGateway ?? `ch_3${books.making().chance.text(23)}`,
      invoiceId: id,
      invoiceTotal: amount,
    }),
  )
  const invoice = books.invoices.change(id, status === 'success' ? paidBy(payment) : { status: made.status })
  books.emit({ event_type: 'invoice_generated', content: { invoice } }, by)
  const about = { transaction: payment, invoice, ...books.buyer(customerId) }
  const content = subscription === undefined ? about : { ...about, subscription }
  books.emit({ event_type: status === 'success' ? 'payment_succeeded' : 'payment_failed', content }, by)
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
