/** The state of a reseller's account. Each change of the state emits an event. */
import type { IEventName } from '@paddle/paddle-node-sdk'
import { createEventFeed } from '../account/event-feed.ts'
import { createObjectHistory } from '../account/object-history.ts'
import { recordsAsOf } from '../account/records.ts'
import type { Chance } from '../chance.ts'
import { makeEvent, type ResellerEvent } from './events.ts'
import { type ObjectContext, timeAt } from './object-context.ts'
import type { ResellerAdjustment } from './objects/adjustment.ts'
import type { ResellerCustomer } from './objects/customer.ts'
import { notifiedSubscription, type ResellerSubscription } from './objects/subscription.ts'
import type { ResellerTransaction } from './objects/transaction.ts'
import { notFound } from './refusal.ts'

type SubscriptionEventType = Extract<ResellerEvent['event_type'], `subscription.${string}`> & IEventName

export type AccountState = ReturnType<typeof createAccountState>
/** The account at one time. */
export type ResellerRecords = ReturnType<AccountState['asOf']>

/** Creates the state of an empty account. */
export function createAccountState(now: () => number, chance: Chance) {
  const history = <T extends { id: string }>() => createObjectHistory<T>(now, notFound)
  const objects = {
    customers: history<ResellerCustomer>(),
    transactions: history<ResellerTransaction>(),
    adjustments: history<ResellerAdjustment>(),
    subscriptions: history<ResellerSubscription>(),
  }
  const { adjustments, subscriptions } = objects
  const adjustmentIds = new Map<string, string[]>()
  const feed = createEventFeed<ResellerEvent>(now)
  const context = (): ObjectContext => ({ chance, nowMs: now() })
  return {
    ...objects,
    feed,
    context,
    asOf: (ms: number) => recordsAsOf(objects, feed, ms),
    /** All adjustments of a transaction, oldest first. */
    adjustmentsOf: (transactionId: string): readonly ResellerAdjustment[] =>
      (adjustmentIds.get(transactionId) ?? []).map(adjustments.existing),
    /** Adds a new adjustment and emits adjustment.created. */
    addAdjustment(adjustment: ResellerAdjustment): ResellerAdjustment {
      const { id, transaction_id } = adjustment
      adjustmentIds.set(transaction_id, [...(adjustmentIds.get(transaction_id) ?? []), id])
      feed.emit(makeEvent(context(), { event_type: 'adjustment.created', data: adjustment }))
      return adjustments.put(adjustment)
    },
    /** Changes a subscription and emits the given events in their order. */
    changeSubscription(
      id: string,
      change: Partial<ResellerSubscription>,
      events: readonly Exclude<SubscriptionEventType, 'subscription.created'>[],
    ): ResellerSubscription {
      const after = subscriptions.put({ ...subscriptions.existing(id), ...change, updated_at: timeAt(now()) })
      const data = notifiedSubscription(after)
      for (const event_type of events) feed.emit(makeEvent(context(), { event_type, data }))
      return after
    },
    /** Changes an adjustment and emits adjustment.updated. */
    changeAdjustment(id: string, change: Partial<ResellerAdjustment>): ResellerAdjustment {
      const after = adjustments.put({ ...adjustments.existing(id), ...change, updated_at: timeAt(now()) })
      feed.emit(makeEvent(context(), { event_type: 'adjustment.updated', data: after }))
      return after
    },
  }
}
