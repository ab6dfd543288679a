/**
 * A card processor's account in memory: payments, refunds, disputes, subscriptions and their events. It behaves like a real
 * account (compatible with Stripe), so that events and API agree: the object of an event can be read, a full refund cannot be
 * repeated, and an idempotency key returns the same answer.
 */
import type Stripe from 'stripe'
import type { EventSource } from '../account/event-feed.ts'
import { type Chance, createChance } from '../chance.ts'
import { type Caller, createAccountState, type ProcessorRecords } from './account-state.ts'
import type { ProcessorEvent } from './events.ts'
import { makePayment, type Payment, type PaymentRequest } from './objects/payment.ts'
import { makeSubscription, type ProcessorSubscription } from './objects/subscription.ts'
import { type RefundActions, refundActions } from './refunds.ts'
import { PERIOD_S, type SubscriptionActions, subscriptionActions } from './subscriptions.ts'

export interface CardProcessorOptions {
  /** Milliseconds since the epoch, e.g. `Date.now`. */
  now: () => number
  /** The source of ids. */
  chance?: Chance
  livemode?: boolean
  /** False for an account from before 2024-10-28, which reports card refunds by `charge.refunded` only. */
  sendsRefundEvents?: boolean
}

export interface SubscribeRequest extends PaymentRequest, Caller {
  /** The billing mode; `flexible` by default, as for new accounts. */
  billingMode?: 'classic' | 'flexible'
}

export interface CardProcessor extends EventSource<ProcessorEvent>, RefundActions, SubscriptionActions {
  readonly kind: 'processor'
  /** A customer pays by card. Emits `charge.succeeded`. */
  createPayment(request: PaymentRequest): Payment
  /** A customer subscribes and pays the first period. Emits `charge.succeeded` and `customer.subscription.created`. */
  subscribe(request: SubscribeRequest): { subscription: ProcessorSubscription; payment: Payment }
  customers(): readonly Stripe.Customer[]
  paymentIntents(): readonly Stripe.PaymentIntent[]
  charges(): readonly Stripe.Charge[]
  refunds(): readonly Stripe.Refund[]
  subscriptions(): readonly ProcessorSubscription[]
  /** The state of the account at a given time, in milliseconds since the epoch. */
  asOf(ms: number): ProcessorRecords
}

/** Creates an empty account. */
export function createCardProcessor(options: CardProcessorOptions): CardProcessor {
  const { now, chance = createChance(), livemode = false, sendsRefundEvents = true } = options
  const state = createAccountState(now, chance, livemode)

  function pay(request: PaymentRequest, caller?: Caller): Payment {
    const made = makePayment(state.context(), request)
    state.customers.put(made.customer)
    state.paymentIntents.put(made.paymentIntent)
    state.charges.put(made.charge)
    state.emit({ type: 'charge.succeeded', object: made.charge }, state.requestOf(caller))
    return made
  }

  const invoiceId = () => `in_1${chance.text(23)}`

  function renew(subscription: ProcessorSubscription): string {
    const amount = subscription.items.data.reduce(
      (sum, item) => sum + Number(item.price.unit_amount) * (item.quantity ?? 1),
      0,
    )
    const customer = state.customers.get(String(subscription.customer))
    const request = { amount, currency: subscription.currency, description: 'Subscription update' }
    pay(customer === undefined ? request : { ...request, customer }, { automatic: true })
    return invoiceId()
  }

  return {
    kind: 'processor',
    createPayment: request => pay(request),
    subscribe({ billingMode = 'flexible', ...request }) {
      const payment = pay({ description: 'Subscription creation', ...request }, request)
      const subscription = state.subscriptions.put(
        makeSubscription(state.context(), {
          customerId: payment.customer.id,
          amount: request.amount,
          currency: request.currency,
          billingMode,
          metadata: request.metadata ?? {},
          periodEnd: state.context().created + PERIOD_S,
          latestInvoice: invoiceId(),
        }),
      )
      state.emit({ type: 'customer.subscription.created', object: subscription }, state.requestOf(request))
      return { subscription, payment }
    },
    ...refundActions(state, sendsRefundEvents),
    ...subscriptionActions(state, renew),
    customers: state.customers.all,
    paymentIntents: state.paymentIntents.all,
    charges: state.charges.all,
    refunds: state.refunds.all,
    subscriptions: state.subscriptions.all,
    asOf: state.asOf,
    events: state.feed.events,
    onEvent: state.feed.onEvent,
    notePosting: state.feed.notePosting,
  }
}
