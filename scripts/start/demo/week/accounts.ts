/** The simulated billing accounts of the demo's week, with its payments and changes. */
import {
  type Biller,
  type CardProcessor,
  createBiller,
  createCardProcessor,
  createChance,
  createReseller,
  type Reseller,
} from '@backstop/simulator'
import { type DemoChange, demoChanges } from './changes.ts'

export interface DemoAccounts {
  readonly shop: CardProcessor
  readonly marketplace: CardProcessor
  readonly japan: CardProcessor
  readonly app_store: Reseller
  readonly memberships: Biller
}

/** A change as the provider recorded it. */
export interface MadeChange extends DemoChange {
  readonly at: string
  /** The provider's id of the payment or subscription. */
  readonly subject: string
  /** The provider's id of the refund; null for a cancellation. */
  readonly providerRef: string | null
  readonly idempotencyKey: string
}

/** A change of an account: `pay` happens days before `change`. */
interface Sale {
  change(idempotencyKey: string): { subject: string; providerRef: string | null }
}

const HOUR_MS = 3_600_000
/** The payments are made this long before the week. */
const PAID_BEFORE_MS = 9 * 24 * HOUR_MS

/**
 * Makes the week in new accounts. The same seed and time give the same ids, so that a later start can serve the same accounts again.
 * @param follow called before the first change, e.g. to post the events
 */
export function makeWeek(
  { seed, madeAtMs }: { seed: number; madeAtMs: number },
  follow: (accounts: DemoAccounts) => void = () => {},
): { accounts: DemoAccounts; changes: MadeChange[] } {
  let clockMs = madeAtMs - PAID_BEFORE_MS
  const now = () => clockMs
  const chanceOf = (index: number) => createChance(seed + index)
  const accounts: DemoAccounts = {
    shop: createCardProcessor({ now, chance: chanceOf(1), livemode: true }),
    marketplace: createCardProcessor({ now, chance: chanceOf(2), livemode: true }),
    japan: createCardProcessor({ now, chance: chanceOf(3), livemode: true }),
    app_store: createReseller({ now, chance: chanceOf(4) }),
    memberships: createBiller({ now, chance: chanceOf(5) }),
  }
  const planned = demoChanges(chanceOf(6)).map(change => {
    clockMs += 60_000
    return { change, sale: sell(accounts, change) }
  })
  follow(accounts)
  const changes = planned.map(({ change, sale }, index): MadeChange => {
    clockMs = madeAtMs - change.hoursAgo * HOUR_MS
    const idempotencyKey = `${change.isReported ? 'billing' : 'unknown'}-${seed}-${index}`
    const at = new Date(Math.floor(clockMs / 1000) * 1000).toISOString()
    return { ...change, at, idempotencyKey, ...sale.change(idempotencyKey) }
  })
  return { accounts, changes }
}

/** Makes the payment or the subscription of a change. */
function sell(accounts: DemoAccounts, change: DemoChange): Sale {
  switch (change.account) {
    case 'shop':
    case 'marketplace':
    case 'japan':
      return sellByCard(accounts[change.account], change)
    case 'app_store':
      return sellByReseller(accounts.app_store, change)
    case 'memberships':
      return sellMembership(accounts.memberships, change)
    default:
      throw change.account satisfies never
  }
}

function sellByCard(account: CardProcessor, { kind, amount, currency, customer: name }: DemoChange): Sale {
  const known = account.customers().find(customer => customer.name === name)
  const sale = { amount, currency, ...(known === undefined ? { name, email: emailOf(name) } : { customer: known }) }
  if (kind === 'cancellation') {
    const { subscription } = account.subscribe(sale)
    return {
      change(idempotencyKey) {
        account.cancel(subscription.id, { idempotencyKey })
        return { subject: subscription.id, providerRef: null }
      },
    }
  }
  // Part of a larger payment, as most refunds are.
  const { charge, paymentIntent } = account.createPayment({ ...sale, amount: amount * 2, description: 'Order' })
  return {
    change: idempotencyKey => ({
      subject: paymentIntent.id,
      providerRef: account.refund({ charge: charge.id, amount, idempotencyKey }).id,
    }),
  }
}

function sellByReseller(account: Reseller, { kind, amount, customer: name }: DemoChange): Sale {
  const sale = { amount, currency: 'USD', person: { name, email: emailOf(name) } } as const
  if (kind === 'cancellation') {
    const { subscription } = account.subscribe(sale)
    return {
      change() {
        account.cancel(subscription.id)
        return { subject: subscription.id, providerRef: null }
      },
    }
  }
  const { id: transactionId } = account.sell({ ...sale, amount: amount * 2 })
  return {
    change: () => ({
      subject: transactionId,
      providerRef: account.refund({ transactionId, amount, review: 'automatic' }).id,
    }),
  }
}

function sellMembership(account: Biller, change: DemoChange): Sale {
  const { kind, amount, customer } = change
  const [first_name = '', ...rest] = customer.split(' ')
  const sale = { amount, currency: 'EUR', person: { first_name, last_name: rest.join(' '), email: emailOf(customer) } }
  const by = change.isReported
    ? ({ source: 'api', user: 'billing-service' } as const)
    : ({ source: 'admin_console', user: 'sam@example.com' } as const)
  if (kind === 'cancellation') {
    const { subscription } = account.subscribe(sale)
    return {
      change() {
        account.cancel(subscription.id, { by })
        return { subject: subscription.id, providerRef: null }
      },
    }
  }
  const { invoice } = account.bill(sale)
  return {
    change: () => ({ subject: invoice.id, providerRef: account.refundInvoice(invoice.id, { by }).refund.id }),
  }
}

/** An address of a domain that never gets mail (RFC 2606). */
function emailOf(name: string): string {
  const letters = name.normalize('NFKD').replaceAll(/[^a-z ]/gi, '')
  return `${letters.trim().toLowerCase().replaceAll(' ', '.') || 'customer'}@customer.example`
}
