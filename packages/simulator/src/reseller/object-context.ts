import type { CurrencyCode } from '@paddle/paddle-node-sdk'
import type { Chance } from '../chance.ts'

/** What every new object of the reseller needs. */
export interface Making {
  readonly chance: Chance
  /** Milliseconds since the epoch. */
  readonly nowMs: number
}

/** ISO 4217 in upper case, one of those that the reseller sells in. */
export type ResellerCurrency = CurrencyCode

const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz'

/** An id as the reseller makes them: a ULID in lower case, so that ids sort by the time of their making. */
export function makeId(prefix: string, { chance, nowMs }: Making): string {
  let rest = Math.floor(nowMs)
  let time = ''
  for (let place = 0; place < 10; place++) {
    time = `${CROCKFORD[rest % 32]}${time}`
    rest = Math.floor(rest / 32)
  }
  const random = Array.from({ length: 16 }, () => CROCKFORD[Math.floor(chance.next() * 32)]).join('')
  return `${prefix}_${time}${random}`
}

/** RFC 3339 with microseconds, as events carry their time. */
export function preciseTime({ chance, nowMs }: Making): string {
  const micros = String(Math.floor(chance.next() * 1000)).padStart(3, '0')
  return new Date(nowMs).toISOString().replace('Z', `${micros}Z`)
}

/** RFC 3339, as objects carry theirs. */
export function timeAt(ms: number): string {
  return new Date(ms).toISOString()
}

/** An amount as the reseller writes it: a string of minor units. */
export function money(minorUnits: number): string {
  return String(minorUnits)
}

/** 20 % that the amount already holds. */
export const TAX_RATE = 0.2

/** The tax that is within an amount, in minor units. */
export function taxWithin(total: number): number {
  return total - Math.round(total / (1 + TAX_RATE))
}

/** What the reseller keeps of an amount: 5 % and 50 minor units, at most all of it. */
export function feeOf(total: number): number {
  return Math.min(total, Math.round(total * 0.05) + 50)
}
