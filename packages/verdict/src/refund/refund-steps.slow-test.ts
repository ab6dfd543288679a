/**
 * Refunds of one payment, the totals of its charge and their operations give the same verdicts in any order, with any
 * number of repeats. If events are lost, the records must match the refunds that a model proves from the other events
 * (test/model/refund-total-model.ts). All other facts are covered by verdicts.slow-test.ts.
 */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  alertsOf,
  contextAt,
  emptyCase,
  hasOpenAlert,
  look,
  lookAll,
  operationSeen,
  refundSeen,
  SECOND,
  secondLooks,
  T0,
  totalSeen,
} from '../../test/fixtures.ts'
import { proveRefunds } from '../../test/model/refund-total-model.ts'
import { refundDeliveriesOf, refundWorlds } from '../../test/refund-world.ts'
import { propertySettings } from '../../test/searches.ts'
import { type ActionRecord, UNJUDGED } from '../case/action-record.ts'
import type { Case } from '../case/case.ts'
import { decide, type Input } from '../decide/decide.ts'

interface World {
  readonly refunds: readonly { amount: number; atS: number; key: boolean; updated: boolean }[]
  readonly operations: readonly { target: number; amount: number; byRef: boolean; byKey: boolean; atS: number }[]
}

const RUNS = 300
const LOSSY_RUNS = 1_000
const FIRST_ARRIVAL = T0 + 60 * SECOND

const worlds: fc.Arbitrary<World> = fc.record({
  refunds: fc
    .array(
      fc.record({
        amount: fc.constantFrom(1000, 2000),
        atS: fc.integer({ min: 0, max: 5 }),
        key: fc.boolean(),
        updated: fc.boolean(),
      }),
      { minLength: 1, maxLength: 3 },
    )
    .map(refunds => refunds.map((refund, index) => ({ ...refund, atS: refund.atS + index * 10 }))),
  operations: fc.array(
    fc.record({
      target: fc.integer({ min: 0, max: 2 }),
      amount: fc.constantFrom(1000, 2000),
      byRef: fc.boolean(),
      byKey: fc.boolean(),
      atS: fc.integer({ min: 0, max: 30 }),
    }),
    { maxLength: 3 },
  ),
})

/** All events and operations of a world, in order of time. */
function worldInputs({ refunds, operations }: World, shown: { refundEvents: boolean }): Input[] {
  const inputs: Input[] = []
  let total = 0
  refunds.forEach(({ amount, atS, key, updated }, index) => {
    const refund = { id: `re_${index}`, amount, createdAt: T0 + atS * SECOND }
    const made = key ? { ...refund, idempotencyKey: `key_${index}` } : refund
    if (shown.refundEvents) inputs.push(refundSeen({ ...made, status: 'pending' }))
    if (shown.refundEvents && updated) inputs.push(refundSeen({ ...refund, eventType: 'refund.updated' }))
    inputs.push(totalSeen({ total: total + amount, before: total, createdAt: refund.createdAt }))
    total += amount
  })
  operations.forEach(({ target, amount, byRef, byKey, atS }, index) => {
    inputs.push(
      operationSeen({
        operation_id: `op_${index}`,
        amount,
        executing_at: new Date(T0 + atS * SECOND).toISOString(),
        ended_at: new Date(T0 + (atS + 1) * SECOND).toISOString(),
        idempotency_key: byKey ? `key_${target}` : null,
        provider_ref: byRef ? `re_${target}` : null,
      }),
    )
  })
  return inputs
}

/** Plays arrivals with their looks, which are `looksLateMs` late. */
function playArrivals(arrivals: readonly { at: number; input: Input }[], looksLateMs: number): Case {
  let theCase = emptyCase()
  let now = T0
  const lookUntil = (until: number) => {
    for (;;) {
      const [next] = [...secondLooks(theCase)].sort((a, b) => a.dueAt - b.dueAt || (a.lookId < b.lookId ? -1 : 1))
      if (next === undefined || next.dueAt + looksLateMs > until) return
      now = Math.max(now, next.dueAt + looksLateMs)
      theCase = decide(theCase, look(next), contextAt(now))
    }
  }
  for (const { at, input } of arrivals) {
    lookUntil(at)
    now = Math.max(now, at)
    theCase = decide(theCase, input, contextAt(now))
  }
  lookUntil(Infinity)
  return theCase
}

/** The inputs in random order, some twice, with gaps of up to 90 seconds, and looks that may be late. */
function deliveries(inputs: readonly Input[]) {
  return fc
    .record({
      order: fc.shuffledSubarray([...inputs], { minLength: inputs.length, maxLength: inputs.length }),
      copies: fc.array(fc.nat({ max: inputs.length - 1 }), { maxLength: 3 }),
      gapsS: fc.array(fc.integer({ min: 0, max: 90 }), { minLength: inputs.length + 3, maxLength: inputs.length + 3 }),
      looksLateMs: fc.constantFrom(0, 5_000, 400_000),
    })
    .map(({ order, copies, gapsS, looksLateMs }) => {
      const all = [...order, ...copies.flatMap(index => inputs[index] ?? [])]
      const arrivals = all.map((input, index) => {
        const elapsedS = gapsS.slice(0, index + 1).reduce((sum, gap) => sum + gap, 0)
        return { input, at: FIRST_ARRIVAL + elapsedS * SECOND }
      })
      return { looksLateMs, arrivals }
    })
}

const inOrder = (inputs: readonly Input[]) => inputs.map((input, index) => ({ input, at: FIRST_ARRIVAL + index }))

const byRefund = (theCase: Case) =>
  theCase.actions
    .map(
      a => `${a.providerRef ?? `provisional ${a.amount}`} ${a.verdict} ${a.reason} ${a.operationId} ${hasOpenAlert(a)}`,
    )
    .sort()

/** The case judged again as if no alert was sent, because the effect of sent alerts depends on the order. */
function judgeAgain(theCase: Case): Case {
  const unheard = { ...theCase, actions: theCase.actions.map(action => ({ ...action, ...UNJUDGED }) as ActionRecord) }
  return lookAll(
    decide(unheard, { kind: 'expected_changes', expectedChanges: [] }, contextAt(T0 + 24 * 3_600 * SECOND)),
  )
}

const sums = (theCase: Case) => {
  const sumOf = (verdict: string) =>
    theCase.actions.filter(a => a.verdict === verdict).reduce((sum, a) => sum + (a.amount ?? 0), 0)
  return { unexplained: sumOf('unexplained'), explained: sumOf('explained') }
}

describe('any order and repetition gives the same verdicts', () => {
  test.each([
    { name: 'refund events, totals and operations', shown: { refundEvents: true }, view: byRefund },
    { name: 'totals and operations', shown: { refundEvents: false }, view: sums },
  ])('of $name', ({ shown, view }) => {
    const cases = worlds.chain(world => {
      const inputs = worldInputs(world, shown)
      return deliveries(inputs).map(delivery => ({ inputs, delivery }))
    })
    fc.assert(
      fc.property(cases, ({ inputs, delivery }) => {
        const [shuffled, ordered] = [
          playArrivals(delivery.arrivals, delivery.looksLateMs),
          playArrivals(inOrder(inputs), 0),
        ]
        expect(view(judgeAgain(shuffled))).toEqual(view(judgeAgain(ordered)))
      }),
      propertySettings(RUNS),
    )
  })
})

const sumOf = (actions: Case['actions']) => actions.reduce((sum, { amount }) => sum + (amount ?? 0), 0)

const lossy = refundWorlds.chain(world => refundDeliveriesOf(world).map(delivery => ({ world, delivery })))

describe('if any events of a charge and its refunds are lost', () => {
  test(`the records are the named refunds and what the totals prove beyond them (${LOSSY_RUNS} charges)`, {
    retry: 0,
  }, () => {
    fc.assert(
      fc.property(lossy, ({ world, delivery }) => {
        const { named, unnamed, leastUnnamed, isUncertain } = proveRefunds(world.happened)
        const theCase = playArrivals(delivery.arrivals, delivery.looksLateMs)
        const provisional = theCase.actions.filter(({ providerRef }) => providerRef === null)
        const names = theCase.actions.flatMap(({ providerRef }) => providerRef ?? [])
        expect(names.sort()).toEqual(named.map(index => `re_${index}`))
        if (isUncertain) {
          expect(sumOf(provisional)).toBeLessThanOrEqual(unnamed.reduce((sum, amount) => sum + amount, 0))
          expect(sumOf(provisional)).toBeGreaterThanOrEqual(leastUnnamed)
        } else {
          expect(provisional.map(({ amount }) => amount ?? 0).sort((a, b) => a - b)).toEqual(unnamed)
        }
        // No operation explains these refunds, so each has alerted exactly once.
        expect(theCase.actions.filter(action => !hasOpenAlert(action))).toEqual([])
        const opened = alertsOf(theCase).filter(alert => alert === 'incident.opened')
        expect(opened.length).toBeLessThanOrEqual(theCase.actions.length + theCase.merged.length)
      }),
      propertySettings(LOSSY_RUNS),
    )
  })
})
