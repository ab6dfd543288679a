/**
 * A reseller's account, kept in memory: transactions, adjustments, subscriptions and the events about them. It changes
 * the way a real account does (compatible with Paddle Billing): refunds wait for a review, a canceled subscription stays
 * canceled, and an immediate cancellation tells of itself twice.
 */
import type { ICustomData } from '@paddle/paddle-node-sdk'
import type { EventSource, Posting } from '../account/event-feed.ts'
import type { View } from '../account/object-history.ts'
import { type Chance, createChance } from '../chance.ts'
import { openBooks } from './account-state.ts'
import { type AdjustmentActions, adjustmentActions } from './adjustments.ts'
import { makeEvent, type ResellerEvent } from './events.ts'
import { makeId, type ResellerCurrency } from './object-context.ts'
import type { ResellerAdjustment } from './objects/adjustment.ts'
import { type CatalogEntry, makeCatalogEntry } from './objects/catalog.ts'
import { makeSubscription, notifiedSubscription, type ResellerSubscription } from './objects/subscription.ts'
import { makeTransaction, type ResellerTransaction, type TransactionFields } from './objects/transaction.ts'
import { PERIOD_MS, type SubscriptionActions, subscriptionActions } from './subscriptions.ts'

export interface ResellerOptions {
  /** Milliseconds since the epoch, e.g. `Date.now`. */
  now: () => number
  /** Ids come from it. */
  chance?: Chance
}

export interface SaleRequest {
  /** Minor units of `currency`, tax within. */
  amount: number
  /** USD when left out. */
  currency?: ResellerCurrency
  customData?: ICustomData
}

/** The account as it stood at one time. */
export interface ResellerRecords {
  readonly transactions: View<ResellerTransaction>
  readonly adjustments: View<ResellerAdjustment>
  readonly subscriptions: View<ResellerSubscription>
  events(): readonly ResellerEvent[]
  /** What is known of the posting of an event. */
  postingOf(event: ResellerEvent): Posting
}

export interface Reseller extends EventSource<ResellerEvent>, AdjustmentActions, SubscriptionActions {
  readonly kind: 'reseller'
  /** Somebody buys once. Leaves transaction.completed. */
  sell(request: SaleRequest): ResellerTransaction
  /** Somebody subscribes and pays the first month. Leaves subscription.created and .activated, transaction.completed. */
  subscribe(request: SaleRequest): { subscription: ResellerSubscription; transaction: ResellerTransaction }
  /** The account as it stood at that time, in milliseconds since the epoch. */
  asOf(ms: number): ResellerRecords
}

/** An empty account. */
export function createReseller({ now, chance = createChance() }: ResellerOptions): Reseller {
  const books = openBooks(now, chance)

  function collect(fields: TransactionFields): ResellerTransaction {
    const transaction = books.transactions.put(makeTransaction(books.making(), fields))
    books.feed.emit(makeEvent(books.making(), { event_type: 'transaction.completed', data: transaction }))
    return transaction
  }

  function saleFields(request: SaleRequest, recurring: boolean) {
    const { amount, currency = 'USD', customData = null } = request
    const sold: CatalogEntry = makeCatalogEntry(books.making(), { amount, currency, recurring })
    const customerId = makeId('ctm', books.making())
    return { amount, currency, sold, customerId, addressId: makeId('add', books.making()), customData }
  }

  function renew(subscription: ResellerSubscription): void {
    const [item] = subscription.items
    if (item === undefined) return
    collect({
      amount: Number(item.price.unit_price.amount) * item.quantity,
      currency: subscription.currency_code,
      sold: item,
      customerId: subscription.customer_id,
      addressId: subscription.address_id,
      subscriptionId: subscription.id,
      origin: 'subscription_recurring',
      customData: subscription.custom_data ?? null,
    })
  }

  return {
    kind: 'reseller',
    sell: request => collect({ ...saleFields(request, false), subscriptionId: null, origin: 'web' }),
    subscribe(request) {
      const fields = saleFields(request, true)
      const periodEndMs = now() + PERIOD_MS
      const subscription = books.subscriptions.put(makeSubscription(books.making(), { ...fields, periodEndMs }))
      const transaction = collect({ ...fields, subscriptionId: subscription.id, origin: 'web' })
      const data = { ...notifiedSubscription(subscription), transaction_id: transaction.id }
      books.feed.emit(makeEvent(books.making(), { event_type: 'subscription.created', data }))
      books.changeSubscription(subscription.id, {}, ['subscription.activated'])
      return { subscription, transaction }
    },
    ...adjustmentActions(books),
    ...subscriptionActions(books, renew),
    asOf: ms => ({
      transactions: books.transactions.asOf(ms),
      adjustments: books.adjustments.asOf(ms),
      subscriptions: books.subscriptions.asOf(ms),
      events: () => books.feed.asOf(ms),
      postingOf: books.feed.postingOf,
    }),
    events: books.feed.events,
    onEvent: books.feed.onEvent,
    notePosting: books.feed.notePosting,
  }
}
