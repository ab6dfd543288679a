/** A connection that showed only the total of a charge also shows its refunds, and its setting applies to them. */
import { describe, expect, test } from 'vitest'
import {
  alertsOf,
  CONNECTION,
  lookAll,
  MINUTE,
  onlyAction,
  play,
  policy,
  refundSeen,
  SECOND,
  T0,
  totalSeen,
} from '../../test/fixtures.ts'
import type { Input } from '../decide/decide.ts'

const other = { connection: { id: 'con_b', createdAt: T0 - 60 * MINUTE } }
const refund = refundSeen()
const total = (createdAt = T0) => totalSeen({ total: 2499, before: 0, createdAt }, other)
const POLICIES = [policy({ outOfBand: 'ignore' }), policy({ connectionId: 'con_b', outOfBand: 'alert' })]
const judgedCase = (...inputs: Input[]) => lookAll(play(inputs.map(input => ({ at: T0, input }))), POLICIES)

describe('a refund that one connection shows, and another only by its total', () => {
  test.each([
    { order: 'refund, total', inputs: [refund, total()] },
    { order: 'total, refund', inputs: [total(), refund] },
  ])('the stricter setting applies: $order', ({ inputs }) => {
    const theCase = judgedCase(...inputs)
    expect(onlyAction(theCase)).toMatchObject({ verdict: 'unexplained', providerRef: 're_1' })
    expect(
      onlyAction(theCase)
        .seenThrough.map(({ id }) => id)
        .sort(),
    ).toEqual([CONNECTION, 'con_b'])
    expect(onlyAction(theCase).incidents).toMatchObject([{ connectionId: 'con_b' }])
  })

  test('the stricter setting applies even if the total arrives after the verdict without an alert', () => {
    const quiet = judgedCase(refund)
    expect(onlyAction(quiet).verdict).toBe('not_alerted')
    const later = lookAll(play([{ at: T0 + 5 * MINUTE, input: total() }], quiet), POLICIES)
    expect(alertsOf(later)).toEqual(['incident.opened'])
  })

  test('a total from before the refund does not include it', () => {
    const before = totalSeen({ total: 100, before: 0, createdAt: T0 - MINUTE }, other)
    const theCase = judgedCase(refundSeen({ id: 're_0', amount: 100, createdAt: T0 - MINUTE }), before, refund)
    expect(theCase.actions.find(({ providerRef }) => providerRef === 're_1')?.verdict).toBe('not_alerted')
  })

  test('a refund that was made after the other connection alerts, though the first connection is younger', () => {
    const young = refundSeen({}, { connection: { id: CONNECTION, createdAt: T0 + 30 * SECOND } })
    expect(onlyAction(judgedCase(young))).toMatchObject({ reason: 'made_before_connection' })
    expect(onlyAction(judgedCase(young, total()))).toMatchObject({ verdict: 'unexplained' })
  })
})
