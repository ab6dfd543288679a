/** The made-up week of the demo: which refunds and cancellations happened where and when, and what the company's software reported. */
import type { Chance } from '@backstop/simulator'

export const ACCOUNTS = ['shop', 'marketplace', 'japan', 'app_store', 'memberships'] as const
export type AccountName = (typeof ACCOUNTS)[number]

export interface DemoChange {
  readonly account: AccountName
  /** Hours from the change to the creation of the demo. */
  readonly hoursAgo: number
  readonly kind: 'refund' | 'cancellation'
  /** Minor units. */
  readonly amount: number
  /** ISO 4217 in lower case. */
  readonly currency: string
  readonly customer: string
  /** True if the company's software reported it. */
  readonly isReported: boolean
  /** The amount of an operation that the software reported on this payment instead, so that the change has a near candidate. */
  readonly reportedAmount?: number
}

/** The expected change of the demo covers refunds of this amount in the shop. */
export const GOODWILL = { amount: 500, currency: 'eur', count: 3 } as const

/** Changes that nothing explains, except by the expected change or because the account never alerts. */
const UNREPORTED: readonly Omit<DemoChange, 'isReported'>[] = [
  { ...refundOf('shop', 18_900, 'eur'), hoursAgo: 74, customer: 'Chiara Moretti' },
  { ...refundOf('shop', 4_990, 'eur'), hoursAgo: 29, customer: 'يوسف الحدّاد' },
  { ...refundOf('shop', 129_000, 'eur'), hoursAgo: 3, customer: 'Bruno Lindqvist', reportedAmount: 12_900 },
  { ...refundOf('shop', 1_250, 'kwd'), hoursAgo: 50, customer: 'مريم العتيبي' },
  { ...refundOf('shop', GOODWILL.amount, GOODWILL.currency), hoursAgo: 98, customer: 'Ada Okafor' },
  { ...refundOf('shop', GOODWILL.amount, GOODWILL.currency), hoursAgo: 97, customer: "Grace O'Neill" },
  { ...refundOf('app_store', 2_999, 'usd'), hoursAgo: 44, customer: 'Ines Söhne' },
  { ...refundOf('memberships', 7_900, 'eur'), hoursAgo: 20, customer: 'João Pereira' },
  { ...refundOf('memberships', 2_400, 'eur'), kind: 'cancellation', hoursAgo: 8, customer: 'Elif Yıldız' },
  { ...refundOf('japan', 500, 'jpy'), hoursAgo: 121, customer: 'Hiro Tanaka' },
  { ...refundOf('japan', 3_980, 'jpy'), hoursAgo: 66, customer: 'Hiro Tanaka' },
  { ...refundOf('japan', 12_800, 'jpy'), hoursAgo: 15, customer: 'Fatou Diallo' },
]

const CUSTOMERS = ['Ada Okafor', 'Bruno Lindqvist', 'Chiara Moretti', 'Dmitri Novak', 'Elif Yıldız', 'Fatou Diallo']

/** The changes that the company's software makes and reports, by account. */
const REPORTED = [
  { account: 'shop', count: 22, currency: 'eur', cancellations: 3 },
  { account: 'marketplace', count: 8, currency: 'usd', cancellations: 0 },
  { account: 'app_store', count: 9, currency: 'usd', cancellations: 2 },
  { account: 'memberships', count: 9, currency: 'eur', cancellations: 4 },
] as const

/** The number of refunds of the storm. More than the notifier's STORM_FROM, so that people get one message about all. */
export const STORM_SIZE = 14
const DAYS = 6.5

/** The week, oldest change first in each account. The same seed gives the same week. */
export function demoChanges(chance: Chance): DemoChange[] {
  const reported = REPORTED.flatMap(({ account, count, currency, cancellations }) =>
    Array.from({ length: count }, (_, index): DemoChange => {
      const kind = index < cancellations ? 'cancellation' : 'refund'
      const amount = 500 + Math.floor(chance.next() ** 2 * 12_000)
      const customer = CUSTOMERS[Math.floor(chance.next() * CUSTOMERS.length)] ?? 'Ada Okafor'
      const hoursAgo = 1 + chance.next() * DAYS * 24
      return { ...refundOf(account, amount, currency), kind, customer, hoursAgo, isReported: true }
    }),
  )
  // A leaked key refunds the same amount again and again, a few seconds apart.
  const storm = Array.from({ length: STORM_SIZE }, (_, index): DemoChange => {
    const customer = CUSTOMERS[index % CUSTOMERS.length] ?? 'Ada Okafor'
    return { ...refundOf('marketplace', 9_900, 'usd'), customer, hoursAgo: 0.2 - index / 500, isReported: false }
  })
  const fresh: DemoChange = {
    ...refundOf('shop', 3_490, 'eur'),
    customer: 'Dmitri Novak',
    hoursAgo: 0,
    isReported: false,
  }
  return [...reported, ...UNREPORTED.map(change => ({ ...change, isReported: false })), ...storm, fresh].sort(
    (a, b) => b.hoursAgo - a.hoursAgo,
  )
}

function refundOf(account: AccountName, amount: number, currency: string) {
  return { account, kind: 'refund', amount, currency } as const
}
