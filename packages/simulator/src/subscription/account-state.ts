/** What a subscription biller's site keeps, and how each change of it becomes an event. */
import { createEventFeed, type EventFeed } from '../account/event-feed.ts'
import { createShelf, type Shelf } from '../account/object-history.ts'
import type { Chance } from '../chance.ts'
import { type Actor, type BillerEvent, makeEvent, type Told } from './events.ts'
import { type Making, versionOf } from './object-context.ts'
import type { BillerCreditNote } from './objects/credit-note.ts'
import type { BillerCard, BillerCustomer } from './objects/customer.ts'
import type { BillerInvoice } from './objects/invoice.ts'
import type { BillerSubscription } from './objects/subscription.ts'
import type { BillerTransaction } from './objects/transaction.ts'
import { notFound } from './refusal.ts'

/** A shelf whose objects are known to be there, and carry a version. */
export interface Register<T extends { id: string }> extends Shelf<T> {
  /** @throws BillerRefusal 404 */
  existing(id: string): T
  /** Changes the object under a new version; a member that is undefined is taken away. */
  change(id: string, change: { [Name in keyof T]?: T[Name] | undefined }): T
}

export interface Books {
  making(): Making
  readonly customers: Register<BillerCustomer>
  /** By the customer's id. */
  readonly cards: Shelf<BillerCard & { id: string }>
  readonly subscriptions: Register<BillerSubscription>
  readonly invoices: Register<BillerInvoice>
  readonly transactions: Register<BillerTransaction>
  readonly creditNotes: Register<BillerCreditNote>
  readonly feed: EventFeed<BillerEvent>
  /** A number that follows the last one of its kind, e.g. `CN-204`. */
  nextNumber(kind: 'INV' | 'CN'): string
  emit(told: Told, by: Actor): void
  /** The subscription's customer and card, as most contents carry them. */
  buyer(customerId: string): { customer: BillerCustomer; card: BillerCard }
}

/** Empty books. */
export function openBooks(now: () => number, chance: Chance): Books {
  const feed = createEventFeed<BillerEvent>(now)
  const numbers = { INV: 87, CN: 203 }
  let version = 0
  const making = (): Making => {
    version = Math.max(now(), version + 1)
    return { chance, nowMs: now(), version }
  }

  function register<T extends { id: string }>(): Register<T> {
    const shelf = createShelf<T>(now)
    const existing = (id: string) => {
      const object = shelf.get(id)
      if (object === undefined) throw notFound(id)
      return object
    }
    return {
      ...shelf,
      existing,
      change(id, change) {
        const after: T = { ...existing(id), ...versionOf(making()) }
        for (const name of Object.keys(change) as (keyof T)[]) {
          const value = change[name]
          if (value === undefined) delete after[name]
          else after[name] = value
        }
        return shelf.put(after)
      },
    }
  }

  const customers = register<BillerCustomer>()
  const cards = createShelf<BillerCard & { id: string }>(now)
  return {
    making,
    customers,
    cards,
    subscriptions: register<BillerSubscription>(),
    invoices: register<BillerInvoice>(),
    transactions: register<BillerTransaction>(),
    creditNotes: register<BillerCreditNote>(),
    feed,
    nextNumber(kind) {
      numbers[kind] += 1
      return `${kind}-${numbers[kind]}`
    },
    emit(told, by) {
      const event = makeEvent(making(), told, by)
      if (by.suppressesWebhooks) feed.keepUnposted(event)
      else feed.emit(event)
    },
    buyer(customerId) {
      const kept = cards.get(customerId)
      if (kept === undefined) throw notFound(customerId)
      const { id, ...card } = kept
      return { customer: customers.existing(customerId), card }
    },
  }
}
