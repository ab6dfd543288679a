/** What a reseller's account keeps, and how each change of it becomes an event. */
import type { IEventName } from '@paddle/paddle-node-sdk'
import { createEventFeed, type EventFeed } from '../account/event-feed.ts'
import { createShelf, type Shelf } from '../account/shelf.ts'
import type { Chance } from '../chance.ts'
import { makeEvent, type ResellerEvent } from './events.ts'
import { type Making, timeAt } from './making.ts'
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
