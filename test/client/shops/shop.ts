/** A shop that refunds and cancels at three providers, with a reporter beside each library. */
import type { Connected } from '../../setup/accounts.ts'

export interface Accounts {
  readonly cards: Connected<'processor'>
  readonly reseller: Connected<'reseller'>
  readonly biller: Connected<'subscription'>
}

/** What the shop's customers bought, by the ids of the providers. */
export interface Purchases {
  readonly payments: readonly [whole: string, part: string, byCharge: string]
  readonly subscriptions: readonly [now: string, later: string, byRawRequest: string]
  readonly transactions: readonly [whole: string, part: string]
  /** The item of the second transaction. */
  readonly item: string
  readonly resold: readonly [now: string, later: string]
  readonly invoice: string
  readonly creditNote: string
  readonly billed: readonly [now: string, later: string]
}

export interface ReporterCounts {
  readonly queued: number
  readonly dropped: number
  readonly refused: number
}

export interface Shop {
  readonly language: string
  /** Refunds and cancels what was bought, one call after another. @returns the milliseconds of each call */
  makeCalls(bought: Purchases): Promise<readonly number[]>
  /** Of all its reporters together. */
  counts(): Promise<ReporterCounts>
  stop(): Promise<void>
}

/** The number of calls of a shop. */
export const CALLS = 14

/** Sells what a shop then refunds and cancels. */
export function sell({ cards, reseller, biller }: Accounts): Purchases {
  const price = { amount: 4_999, currency: 'eur' }
  const pay = () => cards.account.createPayment(price)
  const subscribe = () => cards.account.subscribe(price).subscription.id
  const resell = () => reseller.account.subscribe({ amount: 4_999 }).subscription.id
  const bill = () => biller.account.subscribe({ amount: 4_999 }).subscription.id
  const part = reseller.account.sell({ amount: 4_999 })
  return {
    payments: [pay().paymentIntent.id, pay().paymentIntent.id, pay().charge.id],
    subscriptions: [subscribe(), subscribe(), subscribe()],
    transactions: [reseller.account.sell({ amount: 4_999 }).id, part.id],
    item: part.details?.line_items?.[0]?.id ?? '',
    resold: [resell(), resell()],
    invoice: biller.account.subscribe({ amount: 4_999 }).invoice.id,
    creditNote: biller.account.issueCreditNote(biller.account.bill({ amount: 4_999 }).invoice.id).id,
    billed: [bill(), bill()],
  }
}
