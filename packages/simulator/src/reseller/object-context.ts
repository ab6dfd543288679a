import type { CurrencyCode } from '@paddle/paddle-node-sdk'
import type { Chance } from '../chance.ts'

/** The values that every new object of the reseller needs. */
export interface ObjectContext {
  readonly chance: Chance
  /** Milliseconds since the epoch. */
  readonly nowMs: number
}

/** A currency of the reseller: ISO 4217 in upper case. */
export type ResellerCurrency = CurrencyCode

const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz'

/** An id like the reseller's: a ULID in lower case, so that ids sort by the time of creation. */
export function makeId(prefix: string, { chance, nowMs }: ObjectContext): string {
  let rest = Math.floor(nowMs)
  let time = ''
  for (let place = 0; place < 10; place++) {
    time = `${CROCKFORD[rest % 32]}${time}`
    rest = Math.floor(rest / 32)
  }
  const random = Array.from({ length: 16 }, () => CROCKFORD[Math.floor(chance.next() * 32)]).join('')
  return `${prefix}_${time}${random}`
}

/** A time in RFC 3339 with microseconds, as in events. */
export function preciseTime({ chance, nowMs }: ObjectContext): string {
  const micros = String(Math.floor(chance.next() * 1000)).padStart(3, '0')
  return new Date(nowMs).toISOString().replace('Z', `${micros}Z`)
}

/** A time in RFC 3339, as in objects. */
export function timeAt(ms: number): string {
  return new Date(ms).toISOString()
}

/** An amount in the reseller's form: minor units as a string. */
export function money(minorUnits: number): string {
  return String(minorUnits)
}

/** The tax rate: 20 %, included in the amount. */
export const TAX_RATE = 0.2

/** The tax included in an amount, in minor units. */
export function taxWithin(total: number): number {
  return total - Math.round(total / (1 + TAX_RATE))
}

/** The reseller's fee: 5 % plus 50 minor units, at most the whole amount. */
export function feeOf(total: number): number {
  return Math.min(total, Math.round(total * 0.05) + 50)
}
