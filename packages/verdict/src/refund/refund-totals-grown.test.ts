/**
 * Reading a charge step by step, as facts become known in any order, gives the same result as reading all facts at
 * once.
 */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SECOND, T0 } from '../../test/fixtures.ts'
import type { RefundTotal } from '../case/case.ts'
import { readTotals } from './refund-totals.ts'
import type { KnownRefund } from './rises.ts'

interface Charge {
  readonly totals: readonly RefundTotal[]
  readonly refunds: readonly KnownRefund[]
}

/** The next fact about a charge. `count` is the number of earlier facts. */
type News = (charge: Charge, count: number) => Charge

const at = fc.constantFrom(0, 0, 1, 2, 3, 4, 60, 1000, 2000).map(seconds => T0 + seconds * SECOND)
const amount = fc.constantFrom(500, 500, 700)
const requestId = fc.constantFrom(null, null, 'A', 'B', 'C')
const cameBack = fc.constantFrom(null, null, { at: null, by: T0 + 60 * SECOND }, { at: T0 + SECOND, by: T0 + SECOND })

const refund = fc.record({ at, amount, requestId, idempotencyKey: requestId, cameBack }).map(
  (facts): News =>
    (charge, count) => ({
      ...charge,
      refunds: [...charge.refunds, { ...facts, name: `re_${count}` }],
    }),
)

const total = fc
  .record({
    observedAt: at,
    totalBefore: fc.constantFrom(null, 0, 500, 700, 1200),
    rise: fc.constantFrom(500, 500, 700, 1200, -500),
    requestId,
    idempotencyKey: requestId,
    uncaptured: fc.constantFrom(0, 0, 700),
  })
  .map(
    ({ rise, ...facts }): News =>
      (charge, count) => {
        const names = {
          id: `total_${count}`,
          identity: 'charge',
          chargeId: 'ch_1',
          subject: 'pi_1',
          objectIds: ['pi_1'],
        }
        const shown = { seenThrough: [], eventIds: [], look: null, provider: 'processor', currency: 'eur' } as const
        const added: RefundTotal = { ...names, ...shown, ...facts, total: (facts.totalBefore ?? 0) + rise }
        return { ...charge, totals: [...charge.totals, added] }
      },
  )

const look = { dueAt: T0, askedAt: null, doneAt: T0 }
const withLook = fc.nat(9).map(
  (index): News =>
    charge => ({
      ...charge,
      totals: charge.totals.map((one, place) => (place === index ? { ...one, look } : one)),
    }),
)

const changed = fc.record({ index: fc.nat(9), facts: fc.record({ at, requestId, cameBack }) }).map(
  ({ index, facts }): News =>
    charge => ({
      ...charge,
      refunds: charge.refunds.map((one, place) => (place === index ? { ...one, ...facts } : one)),
    }),
)

const withoutRefund = fc.nat(9).map(
  (index): News =>
    ({ totals, refunds }) => ({
      totals: totals.filter((_, place) => place !== index),
      refunds: refunds.filter((_, place) => place !== index - 1),
    }),
)

/** One refund is missing and another one appears twice, as after an event about an evicted record. */
const withRefundTwice = fc.tuple(fc.nat(9), fc.nat(9)).map(
  ([index, other]): News =>
    ({ totals, refunds }) => ({
      totals,
      refunds: refunds.map((one, place) => ({ ...((place === index ? refunds[other] : undefined) ?? one) })),
    }),
)

const news = fc.oneof(
  { weight: 4, arbitrary: refund },
  { weight: 4, arbitrary: total },
  withLook,
  changed,
  withoutRefund,
  withRefundTwice,
)
/** Some decisions are repeated from an earlier state. */
const isFromEarlier = fc.nat(5).map(digit => digit === 0)

test('reading a charge after each new fact gives the same result as reading it once', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(news, isFromEarlier), { maxLength: 14 }), all => {
      const charges: Charge[] = [{ totals: [], refunds: [] }]
      for (const [count, [learn, isEarlier]] of all.entries()) {
        const known = charges.at(isEarlier ? -2 : -1) ?? (charges[0] as Charge)
        const charge = learn(known, count)
        charges.push(charge)
        const read = readTotals(charge.totals, charge.refunds)
        const anew = structuredClone(charge)
        const readAnew = readTotals(anew.totals, anew.refunds)
        expect(read.unnamed).toEqual(readAnew.unnamed)
        expect(read.refundsOf()).toEqual(readAnew.refundsOf())
      }
    }),
    { numRuns: 1_000 },
  )
})
