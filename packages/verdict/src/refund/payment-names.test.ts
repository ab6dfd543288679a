/**
 * A refund that names only its charge, and an operation that names only the payment. The operation explains the refund
 * once an object links both names. Two charges of one payment must not be confused.
 */

import { describe, expect, test } from 'vitest'
import {
  alertsOf,
  decideAgain,
  emptyCase,
  lookAll,
  MINUTE,
  operationSeen,
  play,
  refundSeen,
  SECOND,
  T0,
  totalSeen,
} from '../../test/fixtures.ts'
import { recordShown, sightingInput } from '../../test/sightings.ts'
import type { Case } from '../case/case.ts'
import type { Input } from '../decide/decide.ts'
import { mergeCases } from '../decide/merge.ts'
import { addPaymentNames } from './payment-names.ts'

const refund = refundSeen({ paymentIntent: null })
const operation = operationSeen()
const link = refundSeen({ id: 're_2', amount: 1, createdAt: T0 + 40 * SECOND })
const at = (ms: number, input: Input) => ({ at: ms, input })
const verdictOf = ({ actions }: Case) => {
  const { verdict, operationId, differences } = actions.find(({ providerRef }) => providerRef === 're_1')!
  return [verdict, operationId, differences]
}
const EXPLAINED = ['explained', 'op_1', []]

const links: { name: string; input: Input }[] = [
  { name: 'another refund', input: link },
  { name: 'the total of the charge', input: totalSeen({ total: 2499, before: 0 }) },
  {
    name: 'a dispute',
    input: sightingInput({ ...recordShown('dispute', 'dp_1'), provider: 'processor', objectIds: ['pi_1', 'ch_1'] }),
  },
]

describe.each(links)('linked by $name', ({ input }) => {
  test.each([
    { order: 'refund, operation, link', inputs: [refund, operation, input] },
    { order: 'operation, refund, link', inputs: [operation, refund, input] },
    { order: 'link, refund, operation', inputs: [input, refund, operation] },
    { order: 'refund, link, operation', inputs: [refund, input, operation] },
    { order: 'operation, link, refund', inputs: [operation, input, refund] },
  ])('$order: the operation explains the refund', ({ inputs }) => {
    expect(verdictOf(play(inputs.map(one => at(T0 + 50 * SECOND, one))))).toEqual(EXPLAINED)
  })
})

test('two cases that are merged are judged as one', () => {
  const alerted = lookAll(play([at(T0, refund)]))
  const other = play([at(T0 + 5 * MINUTE, operation)], { ...emptyCase(), id: 'sub_other' })
  for (const [a, b] of [
    [alerted, other],
    [other, alerted],
  ] as const) {
    const { merged } = mergeCases(a, b, T0 + 6 * MINUTE)
    const judged = decideAgain(play([at(T0 + 6 * MINUTE, totalSeen({ total: 2499, before: 0 }))], merged))
    expect(verdictOf(judged)).toEqual(EXPLAINED)
    expect(alertsOf(judged)).toEqual(['incident.opened', 'incident.resolved'])
  }
})

test('a later event that names only the charge removes no name', () => {
  const updated = refundSeen({ paymentIntent: null, eventType: 'refund.updated' })
  expect(verdictOf(play([refund, link, operation, updated].map(one => at(T0, one))))).toEqual(EXPLAINED)
})

test('two payments of one case keep their own names', () => {
  const otherPayment = refundSeen({ id: 're_3', charge: 'ch_3', paymentIntent: 'pi_3' })
  const named = operationSeen({ subject: 'pi_3' })
  expect(verdictOf(play([refund, link, otherPayment, named].map(one => at(T0, one))))).toEqual(['pending', null, []])
})

describe('a payment of two charges', () => {
  const operationAbout = (subject: string) => operationSeen({ subject, amount: 700 })
  const ofFirst = refundSeen({ amount: 700 })
  const totalOf = (charge: string, total = 700) => totalSeen({ charge, total, before: 0 }, { eventId: `evt_${charge}` })
  const namesOf = (theCase: Case, ref: string | null) =>
    theCase.actions.find(({ providerRef }) => providerRef === ref)?.objectIds
  const anyOrder = (inputs: Input[]) => [inputs, inputs.toReversed()]

  test('an operation about one charge explains no refund of the other, for each object that links the second charge', () => {
    for (const inputs of anyOrder([operationAbout('ch_2'), ofFirst, totalOf('ch_2', 1)])) {
      const theCase = lookAll(play(inputs.map(one => at(T0, one))))
      expect(verdictOf(theCase)).toEqual(['unexplained', null, []])
      expect(namesOf(theCase, 're_1')).toEqual(['pi_1', 'ch_1'])
    }
  })

  test('a refund that names only its charge fills no total of the other charge', () => {
    const ours = operationSeen({ amount: 700, provider_ref: 're_2' })
    const refundOfSecond = refundSeen({ id: 're_2', amount: 700, charge: 'ch_2', paymentIntent: null })
    for (const inputs of anyOrder([ours, refundOfSecond, totalOf('ch_2'), totalOf('ch_1')])) {
      const theCase = lookAll(play(inputs.map(one => at(T0, one))))
      expect(alertsOf(theCase)).toContain('incident.opened')
      expect(theCase.actions.map(({ providerRef, verdict }) => [providerRef, verdict]).sort()).toEqual([
        [null, 'unexplained'],
        ['re_2', 'explained'],
      ])
      expect(namesOf(theCase, 're_2')?.toSorted()).toEqual(['ch_2', 'pi_1'])
      expect(namesOf(theCase, null)).toEqual(['pi_1', 'ch_1'])
    }
  })

  test('a refund that names only the payment belongs to its charge while one charge is known', () => {
    const refundOfPayment = refundSeen({ amount: 700, charge: null })
    const one = play([operationAbout('ch_1'), refundOfPayment, totalOf('ch_1')].map(input => at(T0, input)))
    expect(verdictOf(one)).toEqual(['explained', 'op_1', []])
    expect(namesOf(one, 're_1')).toEqual(['pi_1', 'ch_1'])
    expect(namesOf(play([at(T0, totalOf('ch_2'))], one), 're_1')).toEqual(['pi_1'])
  })

  test("a refund that only the charge's total shows is explained by an operation that names the payment", () => {
    const total = totalSeen({ total: 700, before: 0, paymentIntent: null })
    const link = refundSeen({ id: 're_2', amount: 1, createdAt: T0 - 120 * MINUTE })
    const theCase = lookAll(play([operationAbout('pi_1'), total, link].map(one => at(T0, one))))
    expect(theCase.actions.find(({ providerRef }) => providerRef === null)?.verdict).toBe('explained')
  })
})

test('a repeated link changes nothing', () => {
  const linked = play([refund, link].map(one => at(T0, one)))
  const again = play([at(T0, totalSeen({ total: 2499, before: 0 }))], linked)
  expect(again.actions.map(({ objectIds }) => objectIds)).toEqual([
    ['ch_1', 'pi_1'],
    ['pi_1', 'ch_1'],
  ])
  expect(addPaymentNames(again)).toBe(again)
})
