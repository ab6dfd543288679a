/** What a reseller's account keeps, and how each change of it becomes an event. */
import type { IEventName } from '@paddle/paddle-node-sdk'
import { createEventFeed, type EventFeed } from '../account/event-feed.ts'
import { createShelf, type Shelf } from '../account/object-history.ts'
import type { Chance } from '../chance.ts'
import { makeEvent, type ResellerEvent } from './events.ts'
import { type Making, timeAt } from './object-context.ts'
import type { ResellerAdjustment } from './objects/adjustment.ts'
import { notifiedSubscription, type ResellerSubscription } from './objects/subscription.ts'
import type { ResellerTransaction } from './objects/transaction.ts'
import { notFound } from './refusal.ts'

export type SubscriptionEventType = Extract<ResellerEvent['event_type'], `subscription.${string}`> & IEventName

export interface Books {
  making(): Making
  readonly transactions: Shelf<ResellerTransaction>
  readonly adjustments: Shelf<ResellerAdjustment>
  readonly subscriptions: Shelf<ResellerSubscription>
  /** Everything that was ever adjusted on a transaction, oldest first. */
  adjustmentsOf(transactionId: string): readonly ResellerAdjustment[]
  /** Keeps a new adjustment and tells of it by adjustment.created. */
  addAdjustment(adjustment: ResellerAdjustment): ResellerAdjustment
  readonly feed: EventFeed<ResellerEvent>
  /** The subscription, or the API's refusal. */
  subscription(id: string): ResellerSubscription
  adjustment(id: string): ResellerAdjustment
  transaction(id: string): ResellerTransaction
  /** Changes a subscription and tells of it by these events, in this order. */
  changeSubscription(
    id: string,
    change: Partial<ResellerSubscription>,
    events: readonly Exclude<SubscriptionEventType, 'subscription.created'>[],
  ): ResellerSubscription
  /** Changes an adjustment and tells of it by adjustment.updated. */
  changeAdjustment(id: string, change: Partial<ResellerAdjustment>): ResellerAdjustment
}

/** Empty books. */
export function openBooks(now: () => number, chance: Chance): Books {
  const transactions = createShelf<ResellerTransaction>(now)
  const adjustments = createShelf<ResellerAdjustment>(now)
  const subscriptions = createShelf<ResellerSubscription>(now)
  const adjustmentIds = new Map<string, string[]>()
  const feed = createEventFeed<ResellerEvent>(now)
  const making = () => ({ chance, nowMs: now() })
  const found = <T extends { id: string }>(shelf: Shelf<T>, id: string): T => {
    const object = shelf.get(id)
    if (object === undefined) throw notFound(id)
    return object
  }
  return {
    making,
    transactions,
    adjustments,
    subscriptions,
    feed,
    subscription: id => found(subscriptions, id),
    adjustment: id => found(adjustments, id),
    transaction: id => found(transactions, id),
    adjustmentsOf: transactionId => (adjustmentIds.get(transactionId) ?? []).map(id => found(adjustments, id)),
    addAdjustment(adjustment) {
      const { id, transaction_id } = adjustment
      adjustmentIds.set(transaction_id, [...(adjustmentIds.get(transaction_id) ?? []), id])
      feed.emit(makeEvent(making(), { event_type: 'adjustment.created', data: adjustment }))
      return adjustments.put(adjustment)
    },
    changeSubscription(id, change, events) {
      const after = subscriptions.put({ ...found(subscriptions, id), ...change, updated_at: timeAt(now()) })
      const data = notifiedSubscription(after)
      for (const event_type of events) feed.emit(makeEvent(making(), { event_type, data }))
      return after
    },
    changeAdjustment(id, change) {
      const after = adjustments.put({ ...found(adjustments, id), ...change, updated_at: timeAt(now()) })
      feed.emit(makeEvent(making(), { event_type: 'adjustment.updated', data: after }))
      return after
    },
  }
}
