/** A refund that names only its charge and an operation that names only the payment: they explain each other once both are linked. */
import { describe, expect, test } from 'vitest'
import {
  alertsOf,
  decideAgain,
  emptySubject,
  lookAll,
  MINUTE,
  operationSeen,
  play,
  refundSeen,
  SECOND,
  T0,
  totalSeen,
} from '../../test/fixtures.ts'
import { recordShown, seen } from '../../test/observations.ts'
import type { Input } from './decide.ts'
import { mergeSubjects } from './merge.ts'
import type { Subject } from './subject.ts'

const refund = refundSeen({ paymentIntent: null })
const operation = operationSeen()
const link = refundSeen({ id: 're_2', amount: 1, createdAt: T0 + 40 * SECOND })
const at = (ms: number, input: Input) => ({ at: ms, input })
const verdictOf = ({ actions }: Subject) => {
  const { verdict, operationId, differences } = actions.find(({ providerRef }) => providerRef === 're_1')!
  return [verdict, operationId, differences]
}
const EXPLAINED = ['explained', 'op_1', []]

const links: { name: string; input: Input }[] = [
  { name: 'another refund', input: link },
  { name: 'the total of the charge', input: totalSeen({ total: 2499, before: 0 }) },
  {
    name: 'a dispute',
    input: seen({ ...recordShown('dispute', 'dp_1'), provider: 'processor', objectIds: ['pi_1', 'ch_1'] }),
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

test('two cases that turn out to be one are judged as one', () => {
  const alerted = lookAll(play([at(T0, refund)]))
  const other = play([at(T0 + 5 * MINUTE, operation)], { ...emptySubject(), id: 'sub_other' })
  for (const [a, b] of [
    [alerted, other],
    [other, alerted],
  ] as const) {
    const { merged } = mergeSubjects(a, b, T0 + 6 * MINUTE)
    const judged = decideAgain(play([at(T0 + 6 * MINUTE, totalSeen({ total: 2499, before: 0 }))], merged))
    expect(verdictOf(judged)).toEqual(EXPLAINED)
    expect(alertsOf(judged)).toEqual(['incident.opened', 'incident.resolved'])
  }
})

test('a later event about the refund that names the charge only takes no name away', () => {
  const updated = refundSeen({ paymentIntent: null, eventType: 'refund.updated' })
  expect(verdictOf(play([refund, link, operation, updated].map(one => at(T0, one))))).toEqual(EXPLAINED)
})

test('two payments of one case keep their own names', () => {
  const otherPayment = refundSeen({ id: 're_3', charge: 'ch_3', paymentIntent: 'pi_3' })
  const named = operationSeen({ subject: 'pi_3' })
  expect(verdictOf(play([refund, link, otherPayment, named].map(one => at(T0, one))))).toEqual(['pending', null, []])
})
