/** The state of a subscription biller's site. Each change of the state emits an event. */
import { createEventFeed } from '../account/event-feed.ts'
import { createObjectHistory } from '../account/object-history.ts'
import { recordsAsOf } from '../account/records.ts'
import type { Chance } from '../chance.ts'
import { type Actor, type BillerEvent, type EventContent, makeEvent } from './events.ts'
import { type ObjectContext, versionOf } from './object-context.ts'
import type { BillerCreditNote } from './objects/credit-note.ts'
import type { BillerCard, BillerCustomer } from './objects/customer.ts'
import type { BillerInvoice } from './objects/invoice.ts'
import type { BillerSubscription } from './objects/subscription.ts'
import type { BillerTransaction } from './objects/transaction.ts'
import { notFound } from './refusal.ts'

export type AccountState = ReturnType<typeof createAccountState>
/** The site at one time. */
export type BillerRecords = ReturnType<AccountState['asOf']>

/** Creates the state of an empty site. */
export function createAccountState(now: () => number, chance: Chance) {
  const feed = createEventFeed<BillerEvent>(now)
  const numbers = { INV: 87, CN: 203 }
  let version = 0
  const context = (): ObjectContext => {
    version = Math.max(now(), version + 1)
    return { chance, nowMs: now(), version }
  }

  function register<T extends { id: string }>() {
    const history = createObjectHistory<T>(now, notFound)
    return {
      ...history,
      /** Changes fields of an object and gives it a new version. A field with the value undefined is removed. */
      change(id: string, change: { [Name in keyof T]?: T[Name] | undefined }): T {
        const after: T = { ...history.existing(id), ...versionOf(context()) }
        for (const name of Object.keys(change) as (keyof T)[]) {
          const value = change[name]
          if (value === undefined) delete after[name]
          else after[name] = value
        }
        return history.put(after)
      },
    }
  }

  const objects = {
    customers: register<BillerCustomer>(),
    /** The cards by the id of their customer. */
    cards: register<BillerCard & { id: string }>(),
    subscriptions: register<BillerSubscription>(),
    invoices: register<BillerInvoice>(),
    transactions: register<BillerTransaction>(),
    creditNotes: register<BillerCreditNote>(),
  }
  return {
    ...objects,
    feed,
    context,
    asOf: (ms: number) => recordsAsOf(objects, feed, ms),
    /** The next id with a number, e.g. `CN-204`. */
    nextNumber(kind: keyof typeof numbers): string {
      numbers[kind] += 1
      return `${kind}-${numbers[kind]}`
    },
    emit(content: EventContent, by: Actor): void {
      const event = makeEvent(context(), content, by)
      if (by.suppressesWebhooks) feed.keepUnposted(event)
      else feed.emit(event)
    },
    /** The subscription's customer and card, which most events contain. */
    buyer(customerId: string): { customer: BillerCustomer; card: BillerCard } {
      const { id, ...card } = objects.cards.existing(customerId)
      return { customer: objects.customers.existing(customerId), card }
    },
  }
}
