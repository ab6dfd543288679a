/** The state of a subscription biller's site. Each change of the state emits an event. */
import { createEventFeed, type EventFeed } from '../account/event-feed.ts'
import { createObjectHistory, type ObjectHistory } from '../account/object-history.ts'
import type { Chance } from '../chance.ts'
import { type Actor, type BillerEvent, type EventContent, makeEvent } from './events.ts'
import { type ObjectContext, versionOf } from './object-context.ts'
import type { BillerCreditNote } from './objects/credit-note.ts'
import type { BillerCard, BillerCustomer } from './objects/customer.ts'
import type { BillerInvoice } from './objects/invoice.ts'
import type { BillerSubscription } from './objects/subscription.ts'
import type { BillerTransaction } from './objects/transaction.ts'
import { notFound } from './refusal.ts'

/** The objects of one type with their history. Each change gives an object a new version, and a missing object is an error. */
interface Register<T extends { id: string }> extends ObjectHistory<T> {
  /** @throws BillerRefusal 404 */
  existing(id: string): T
  /** Changes fields of an object and gives it a new version. A field with the value undefined is removed. */
  change(id: string, change: { [Name in keyof T]?: T[Name] | undefined }): T
}

export interface AccountState {
  context(): ObjectContext
  readonly customers: Register<BillerCustomer>
  /** The cards by the id of their customer. */
  readonly cards: ObjectHistory<BillerCard & { id: string }>
  readonly subscriptions: Register<BillerSubscription>
  readonly invoices: Register<BillerInvoice>
  readonly transactions: Register<BillerTransaction>
  readonly creditNotes: Register<BillerCreditNote>
  readonly feed: EventFeed<BillerEvent>
  /** The next id with a number, e.g. `CN-204`. */
  nextNumber(kind: 'INV' | 'CN'): string
  emit(content: EventContent, by: Actor): void
  /** The subscription's customer and card, which most events contain. */
  buyer(customerId: string): { customer: BillerCustomer; card: BillerCard }
}

/** Creates the state of an empty site. */
export function createAccountState(now: () => number, chance: Chance): AccountState {
  const feed = createEventFeed<BillerEvent>(now)
  const numbers = { INV: 87, CN: 203 }
  let version = 0
  const context = (): ObjectContext => {
    version = Math.max(now(), version + 1)
    return { chance, nowMs: now(), version }
  }

  function register<T extends { id: string }>(): Register<T> {
    const history = createObjectHistory<T>(now)
    const existing = (id: string) => {
      const object = history.get(id)
      if (object === undefined) throw notFound(id)
      return object
    }
    return {
      ...history,
      existing,
      change(id, change) {
        const after: T = { ...existing(id), ...versionOf(context()) }
        for (const name of Object.keys(change) as (keyof T)[]) {
          const value = change[name]
          if (value === undefined) delete after[name]
          else after[name] = value
        }
        return history.put(after)
      },
    }
  }

  const customers = register<BillerCustomer>()
  const cards = createObjectHistory<BillerCard & { id: string }>(now)
  return {
    context,
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
    emit(content, by) {
      const event = makeEvent(context(), content, by)
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
