/**
 * A reseller's account in memory: transactions, adjustments, subscriptions and their events. It behaves like a real account
 * (compatible with Paddle Billing): refunds wait for a review, a canceled subscription stays canceled, and an immediate
 * cancellation emits two events.
 */
import type { ICustomData } from '@paddle/paddle-node-sdk'
import type { EventSource } from '../account/event-feed.ts'
import { type Chance, createChance } from '../chance.ts'
import { createAccountState, type ResellerRecords } from './account-state.ts'
import { type AdjustmentActions, adjustmentActions } from './adjustments.ts'
import { makeEvent, type ResellerEvent } from './events.ts'
import { makeId, type ResellerCurrency } from './object-context.ts'
import { type CatalogEntry, makeCatalogEntry } from './objects/catalog.ts'
import { makeCustomer, type Person, type ResellerCustomer } from './objects/customer.ts'
import { makeSubscription, notifiedSubscription, type ResellerSubscription } from './objects/subscription.ts'
import { makeTransaction, type ResellerTransaction, type TransactionFields } from './objects/transaction.ts'
import { PERIOD_MS, type SubscriptionActions, subscriptionActions } from './subscriptions.ts'

export interface ResellerOptions {
  /** Milliseconds since the epoch, e.g. `Date.now`. */
  now: () => number
  /** The source of ids. */
  chance?: Chance
}

export interface SaleRequest {
  /** Minor units of `currency`, including tax. */
  amount: number
  /** USD by default. */
  currency?: ResellerCurrency
  customData?: ICustomData
  /** The new customer; a made-up person by default. */
  person?: Person
}

export interface Reseller extends EventSource<ResellerEvent>, AdjustmentActions, SubscriptionActions {
  readonly kind: 'reseller'
  /** Makes a one-time sale. Emits transaction.completed. */
  sell(request: SaleRequest): ResellerTransaction
  /** Creates a subscription whose first month is paid. Emits subscription.created and .activated, transaction.completed. */
  subscribe(request: SaleRequest): { subscription: ResellerSubscription; transaction: ResellerTransaction }
  /** @throws ResellerRefusal 404 */
  customer(id: string): ResellerCustomer
  /** The state of the account at a given time, in milliseconds since the epoch. */
  asOf(ms: number): ResellerRecords
}

/** Creates an empty account. */
export function createReseller({ now, chance = createChance() }: ResellerOptions): Reseller {
  const state = createAccountState(now, chance)

  function collect(fields: TransactionFields): ResellerTransaction {
    const transaction = state.transactions.put(makeTransaction(state.context(), fields))
    state.feed.emit(makeEvent(state.context(), { event_type: 'transaction.completed', data: transaction }))
    return transaction
  }

  function saleFields(request: SaleRequest, recurring: boolean) {
    const { amount, currency = 'USD', customData = null, person } = request
    const sold: CatalogEntry = makeCatalogEntry(state.context(), { amount, currency, recurring })
    const { id: customerId } = state.customers.put(makeCustomer(state.context(), person))
    return { amount, currency, sold, customerId, addressId: makeId('add', state.context()), customData }
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
      const subscription = state.subscriptions.put(makeSubscription(state.context(), { ...fields, periodEndMs }))
      const transaction = collect({ ...fields, subscriptionId: subscription.id, origin: 'web' })
      const data = { ...notifiedSubscription(subscription), transaction_id: transaction.id }
      state.feed.emit(makeEvent(state.context(), { event_type: 'subscription.created', data }))
      state.changeSubscription(subscription.id, {}, ['subscription.activated'])
      return { subscription, transaction }
    },
    ...adjustmentActions(state),
    ...subscriptionActions(state, renew),
    customer: state.customers.existing,
    asOf: state.asOf,
    events: state.feed.events,
    onEvent: state.feed.onEvent,
    notePosting: state.feed.notePosting,
  }
}
