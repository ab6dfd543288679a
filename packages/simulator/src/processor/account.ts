/**
 * A card processor's account, kept in memory: payments, refunds, disputes, subscriptions and the events about them. It
 * changes the way a real account does (compatible with Stripe), so that what Backstop sees of it is consistent: what an
 * event says can be read again, a full refund cannot be repeated, an idempotency key answers what it answered before.
 */
import type Stripe from 'stripe'
import type { EventSource, Posting } from '../account/event-feed.ts'
import type { View } from '../account/object-history.ts'
import { type Chance, createChance } from '../chance.ts'
import { type Caller, openBooks } from './account-state.ts'
import type { ProcessorEvent } from './events.ts'
import { makePayment, type Payment, type PaymentRequest } from './objects/payment.ts'
import type { ProcessorSchedule } from './objects/schedule.ts'
import { makeSubscription, type ProcessorSubscription } from './objects/subscription.ts'
import { type RefundActions, refundActions } from './refunds.ts'
import { PERIOD_S, type SubscriptionActions, subscriptionActions } from './subscriptions.ts'

export interface CardProcessorOptions {
  /** Milliseconds since the epoch, e.g. `Date.now`. */
  now: () => number
  /** Ids come from it. */
  chance?: Chance
  livemode?: boolean
  /** Accounts from before 2024-10-28 tell of a card refund by `charge.refunded` alone: false is such an account. */
  sendsRefundEvents?: boolean
}

export interface SubscribeRequest extends PaymentRequest, Caller {
  /** `flexible` when left out, as new accounts have it. */
  billingMode?: 'classic' | 'flexible'
}

/** The account as it stood at one time. */
export interface ProcessorRecords {
  readonly customers: View<Stripe.Customer>
  readonly paymentIntents: View<Stripe.PaymentIntent>
  readonly charges: View<Stripe.Charge>
  readonly refunds: View<Stripe.Refund>
  readonly disputes: View<Stripe.Dispute>
  readonly subscriptions: View<ProcessorSubscription>
  readonly schedules: View<ProcessorSchedule>
  events(): readonly ProcessorEvent[]
  /** What is known of the posting of an event. */
  postingOf(event: ProcessorEvent): Posting
}

export interface CardProcessor extends EventSource<ProcessorEvent>, RefundActions, SubscriptionActions {
  readonly kind: 'processor'
  /** A customer pays by card. Leaves `charge.succeeded`. */
  createPayment(request: PaymentRequest): Payment
  /** A customer subscribes and pays the first period. Leaves `charge.succeeded` and `customer.subscription.created`. */
  subscribe(request: SubscribeRequest): { subscription: ProcessorSubscription; payment: Payment }
  customers(): readonly Stripe.Customer[]
  paymentIntents(): readonly Stripe.PaymentIntent[]
  charges(): readonly Stripe.Charge[]
  refunds(): readonly Stripe.Refund[]
  subscriptions(): readonly ProcessorSubscription[]
  /** The account as it stood at that time, in milliseconds since the epoch. */
  asOf(ms: number): ProcessorRecords
}

/** An empty account. */
export function createCardProcessor(options: CardProcessorOptions): CardProcessor {
  const { now, chance = createChance(), livemode = false, sendsRefundEvents = true } = options
  const books = openBooks(now, chance, livemode)

  function pay(request: PaymentRequest, caller?: Caller): Payment {
    const made = makePayment(books.making(), request)
    books.customers.put(made.customer)
    books.paymentIntents.put(made.paymentIntent)
    books.charges.put(made.charge)
    books.emit({ type: 'charge.succeeded', object: made.charge }, books.requestOf(caller))
    return made
  }

  const invoiceId = () => `in_1${chance.text(23)}`

  function renew(subscription: ProcessorSubscription): string {
    const amount = subscription.items.data.reduce(
      (sum, item) => sum + Number(item.price.unit_amount) * (item.quantity ?? 1),
      0,
    )
    const customer = books.customers.get(String(subscription.customer))
    const request = { amount, currency: subscription.currency, description: 'Subscription update' }
    pay(customer === undefined ? request : { ...request, customer }, { automatic: true })
    return invoiceId()
  }

  return {
    kind: 'processor',
    createPayment: request => pay(request),
    subscribe({ billingMode = 'flexible', ...request }) {
      const payment = pay({ description: 'Subscription creation', ...request }, request)
      const subscription = books.subscriptions.put(
        makeSubscription(books.making(), {
          customerId: payment.customer.id,
          amount: request.amount,
          currency: request.currency,
          billingMode,
          metadata: request.metadata ?? {},
          periodEnd: books.making().created + PERIOD_S,
          latestInvoice: invoiceId(),
        }),
      )
      books.emit({ type: 'customer.subscription.created', object: subscription }, books.requestOf(request))
      return { subscription, payment }
    },
    ...refundActions(books, sendsRefundEvents),
    ...subscriptionActions(books, renew),
    customers: books.customers.all,
    paymentIntents: books.paymentIntents.all,
    charges: books.charges.all,
    refunds: books.refunds.all,
    subscriptions: books.subscriptions.all,
    asOf: ms => ({
      customers: books.customers.asOf(ms),
      paymentIntents: books.paymentIntents.asOf(ms),
      charges: books.charges.asOf(ms),
      refunds: books.refunds.asOf(ms),
      disputes: books.disputes.asOf(ms),
      subscriptions: books.subscriptions.asOf(ms),
      schedules: books.schedules.asOf(ms),
      events: () => books.feed.asOf(ms),
      postingOf: books.feed.postingOf,
    }),
    events: books.feed.events,
    onEvent: books.feed.onEvent,
    notePosting: books.feed.notePosting,
  }
}
