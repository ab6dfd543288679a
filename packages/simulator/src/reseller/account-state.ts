/** The state of a reseller's account. Each change of the state emits an event. */
import type { IEventName } from '@paddle/paddle-node-sdk'
import { createEventFeed, type EventFeed } from '../account/event-feed.ts'
import { createObjectHistory, type ObjectHistory } from '../account/object-history.ts'
import type { Chance } from '../chance.ts'
import { makeEvent, type ResellerEvent } from './events.ts'
import { type ObjectContext, timeAt } from './object-context.ts'
import type { ResellerAdjustment } from './objects/adjustment.ts'
import type { ResellerCustomer } from './objects/customer.ts'
import { notifiedSubscription, type ResellerSubscription } from './objects/subscription.ts'
import type { ResellerTransaction } from './objects/transaction.ts'
import { notFound } from './refusal.ts'

type SubscriptionEventType = Extract<ResellerEvent['event_type'], `subscription.${string}`> & IEventName

export interface AccountState {
  context(): ObjectContext
  readonly customers: ObjectHistory<ResellerCustomer>
  readonly transactions: ObjectHistory<ResellerTransaction>
  readonly adjustments: ObjectHistory<ResellerAdjustment>
  readonly subscriptions: ObjectHistory<ResellerSubscription>
  /** All adjustments of a transaction, oldest first. */
  adjustmentsOf(transactionId: string): readonly ResellerAdjustment[]
  /** Adds a new adjustment and emits adjustment.created. */
  addAdjustment(adjustment: ResellerAdjustment): ResellerAdjustment
  readonly feed: EventFeed<ResellerEvent>
  /** @throws ResellerRefusal 404 */
  subscription(id: string): ResellerSubscription
  customer(id: string): ResellerCustomer
  adjustment(id: string): ResellerAdjustment
  transaction(id: string): ResellerTransaction
  /** Changes a subscription and emits the given events in their order. */
  changeSubscription(
    id: string,
    change: Partial<ResellerSubscription>,
    events: readonly Exclude<SubscriptionEventType, 'subscription.created'>[],
  ): ResellerSubscription
  /** Changes an adjustment and emits adjustment.updated. */
  changeAdjustment(id: string, change: Partial<ResellerAdjustment>): ResellerAdjustment
}

/** Creates the state of an empty account. */
export function createAccountState(now: () => number, chance: Chance): AccountState {
  const customers = createObjectHistory<ResellerCustomer>(now)
  const transactions = createObjectHistory<ResellerTransaction>(now)
  const adjustments = createObjectHistory<ResellerAdjustment>(now)
  const subscriptions = createObjectHistory<ResellerSubscription>(now)
  const adjustmentIds = new Map<string, string[]>()
  const feed = createEventFeed<ResellerEvent>(now)
  const context = () => ({ chance, nowMs: now() })
  const found = <T extends { id: string }>(history: ObjectHistory<T>, id: string): T => {
    const object = history.get(id)
    if (object === undefined) throw notFound(id)
    return object
  }
  return {
    context,
    customers,
    transactions,
    adjustments,
    subscriptions,
    feed,
    subscription: id => found(subscriptions, id),
    customer: id => found(customers, id),
    adjustment: id => found(adjustments, id),
    transaction: id => found(transactions, id),
    adjustmentsOf: transactionId => (adjustmentIds.get(transactionId) ?? []).map(id => found(adjustments, id)),
    addAdjustment(adjustment) {
      const { id, transaction_id } = adjustment
      adjustmentIds.set(transaction_id, [...(adjustmentIds.get(transaction_id) ?? []), id])
      feed.emit(makeEvent(context(), { event_type: 'adjustment.created', data: adjustment }))
      return adjustments.put(adjustment)
    },
    changeSubscription(id, change, events) {
      const after = subscriptions.put({ ...found(subscriptions, id), ...change, updated_at: timeAt(now()) })
      const data = notifiedSubscription(after)
      for (const event_type of events) feed.emit(makeEvent(context(), { event_type, data }))
      return after
    },
    changeAdjustment(id, change) {
      const after = adjustments.put({ ...found(adjustments, id), ...change, updated_at: timeAt(now()) })
      feed.emit(makeEvent(context(), { event_type: 'adjustment.updated', data: after }))
      return after
    },
  }
}
