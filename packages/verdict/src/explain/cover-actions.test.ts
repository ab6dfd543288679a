import { describe, expect, test } from 'vitest'
import { expectedChange } from '../../test/expected-changes.ts'
import {
  alertsOf,
  emptyCase,
  lookAll,
  MINUTE,
  onlyAction,
  operationSeen,
  play,
  SECOND,
  secondLooks,
  T0,
} from '../../test/fixtures.ts'
import { refundShown, scheduledCancellation, sightingInput } from '../../test/sightings.ts'
import type { Case } from '../case/case.ts'
import type { ExpectedChange } from '../case/expected-change.ts'
import { mergeCases } from '../decide/merge.ts'
import { projectAction, stampChanged } from '../show/projection.ts'

const CHARGED = { about: ['pi_1', 'ch_1'] }
const refund = (id: string, more: object = {}) => sightingInput(refundShown({ ...CHARGED, providerRef: id, ...more }))
const expectedChangesInput = (...expectedChanges: ExpectedChange[]) => ({
  kind: 'expected_changes' as const,
  expectedChanges,
})

/** The case after these refunds and their second looks, at which these expected changes are loaded. */
function judgedCase(refunds: ReturnType<typeof refund>[], expectedChanges: ExpectedChange[]): Case {
  const seen = play([
    ...refunds.map(input => ({ at: T0 + SECOND, input })),
    { at: T0 + MINUTE, input: expectedChangesInput(...expectedChanges) },
  ])
  return secondLooks(seen).length === 0 ? seen : lookAll(seen)
}

const coveredOf = ({ actions }: Case) =>
  Object.fromEntries(actions.map(({ providerRef, expectedChangeId }) => [providerRef, expectedChangeId]))

describe('an expected change', () => {
  test('covers one change if it has no other limit, and the next one alerts', () => {
    const theCase = judgedCase([refund('re_1'), refund('re_2')], [expectedChange()])
    expect(coveredOf(theCase)).toEqual({ re_1: 'exp_1', re_2: null })
    expect(alertsOf(theCase)).toHaveLength(1)
  })

  test('covers as many changes as its limit', () => {
    const theCase = judgedCase([refund('re_1'), refund('re_2'), refund('re_3')], [expectedChange({ maxChanges: 2 })])
    expect(coveredOf(theCase)).toEqual({ re_1: 'exp_1', re_2: 'exp_1', re_3: null })
  })

  test('covers no more money than its limit', () => {
    const expected = expectedChange({ maxChanges: 10, maxAmount: 5_000, currency: 'eur' })
    const refunds = [refund('re_1'), refund('re_2', { amount: 2_502 }), refund('re_3', { amount: 2_501 })]
    expect(coveredOf(judgedCase(refunds, [expected]))).toEqual({ re_1: 'exp_1', re_2: null, re_3: 'exp_1' })
  })

  test('with a limit of money covers nothing without an amount, or in another currency', () => {
    const expected = expectedChange({ maxAmount: 5_000, currency: 'eur' })
    const refunds = [refund('re_1', { amount: null }), refund('re_2', { currency: 'usd' })]
    expect(coveredOf(judgedCase(refunds, [expected]))).toEqual({ re_1: null, re_2: null })
  })

  test('that is used up by other cases covers nothing', () => {
    const used = expectedChange({ usedElsewhere: { changes: 1, amount: 0 } })
    const spent = expectedChange({
      id: 'exp_2',
      maxAmount: 2_499,
      currency: 'eur',
      usedElsewhere: { changes: 0, amount: 1 },
    })
    expect(coveredOf(judgedCase([refund('re_1')], [used, spent]))).toEqual({ re_1: null })
  })

  test('leaves an action to the next expected change when it is used up', () => {
    const expectedChanges = [expectedChange({ expiresAt: T0 + 2 * MINUTE }), expectedChange({ id: 'exp_2' })]
    expect(coveredOf(judgedCase([refund('re_1'), refund('re_2')], expectedChanges))).toEqual({
      re_1: 'exp_1',
      re_2: 'exp_2',
    })
  })

  test('keeps its actions if it is used up elsewhere or deleted meanwhile', () => {
    const theCase = judgedCase([refund('re_1')], [expectedChange()])
    const full = expectedChange({ usedElsewhere: { changes: 1, amount: 0 } })
    const later = play([{ at: T0 + 2 * MINUTE, input: expectedChangesInput(full) }], theCase)
    expect(coveredOf(later)).toEqual({ re_1: 'exp_1' })
    const another = play([{ at: T0 + 3 * MINUTE, input: refund('re_2', { createdAt: T0 + 2 * MINUTE }) }], later)
    expect(coveredOf(another)).toEqual({ re_1: 'exp_1', re_2: null })
  })

  test('is free for another action after an operation explains the covered one', () => {
    const theCase = judgedCase([refund('re_1'), refund('re_2')], [expectedChange()])
    const made = operationSeen({ provider_ref: 're_1' })
    const explained = play([{ at: T0 + 3 * MINUTE, input: made }], theCase)
    const again = play([{ at: T0 + 4 * MINUTE, input: operationSeen({ provider_ref: 're_1', version: 2 }) }], explained)
    expect(coveredOf(again)).toEqual({ re_1: null, re_2: 'exp_1' })
  })

  test('keeps covering the actions of two cases that are merged', () => {
    const [one, other] = ['re_1', 're_2'].map(id =>
      judgedCase([refund(id)], [expectedChange({ maxChanges: 2, usedElsewhere: { changes: 1, amount: 2_499 } })]),
    ) as [Case, Case]
    const { merged } = mergeCases(one, { ...other, id: 'sub_other', createdAt: T0 + MINUTE }, T0 + 2 * MINUTE)
    const later = play(
      [{ at: T0 + 3 * MINUTE, input: expectedChangesInput(expectedChange({ maxChanges: 2 })) }],
      merged,
    )
    expect(coveredOf(later)).toEqual({ re_1: 'exp_1', re_2: 'exp_1' })
  })
})

describe('the rule of an unexplained action', () => {
  const ruleOf = (theCase: Case, id: string) => {
    const action = theCase.actions.find(({ providerRef }) => providerRef === id)
    if (action === undefined) throw new Error(`${id} is not recorded`)
    return projectAction(theCase, action).why?.rule.replaceAll(/act_[a-z0-9]{26}/g, name =>
      theCase.actions.flatMap(one => (one.id === name ? one.providerRef : [])).join(),
    )
  }
  const elsewhere = (changes: number, by: string[], amount = 0) => ({ usedElsewhere: { changes, amount, by } })
  const limited = { maxAmount: 5_000, currency: 'eur', maxChanges: 9 }

  test.each<{ name: string; expected: Partial<ExpectedChange>; says: string }>([
    {
      name: 'an expected change that another payment used up',
      expected: elsewhere(1, ['act_a']),
      says: 'expected change exp_1 would cover it, but was used up by act_a',
    },
    {
      name: 'some of the actions that used it up if there are many',
      expected: { maxChanges: 5, ...elsewhere(5, ['act_a', 'act_b', 'act_c']) },
      says: 'expected change exp_1 would cover it, but was used up by act_a, act_b, act_c and 2 others',
    },
    {
      name: 'how many actions used it up if they are unknown',
      expected: { maxChanges: 2, usedElsewhere: { changes: 2, amount: 0 } },
      says: 'expected change exp_1 would cover it, but was used up by 2 others',
    },
    {
      name: 'an expected change with too little money left',
      expected: { ...limited, ...elsewhere(1, ['act_a'], 2_502) },
      says: 'expected change exp_1 would cover it, but only EUR 24.98 of its amount is left: the rest was used by act_a',
    },
    {
      name: 'an expected change of a lower amount',
      expected: { maxAmount: 1_000, currency: 'eur' },
      says: 'expected change exp_1 would cover it, but only EUR 10.00 of its amount is left',
    },
    {
      name: 'an expected change that was deleted',
      expected: { usedElsewhere: { changes: 1, amount: 0, isDeleted: true } },
      says: 'expected change exp_1 would cover it, but was deleted',
    },
  ])('names $name', ({ expected, says }) => {
    expect(ruleOf(judgedCase([refund('re_1')], [expectedChange(expected)]), 're_1')).toBe(
      `Nothing explains it; ${says}`,
    )
  })

  test('names the other refund of the payment that used it up, and no expected change once an operation explains it', () => {
    const theCase = judgedCase([refund('re_1'), refund('re_2')], [expectedChange()])
    expect(ruleOf(theCase, 're_2')).toBe(
      'Nothing explains it; expected change exp_1 would cover it, but was used up by re_1',
    )
    const explained = play([{ at: T0 + 3 * MINUTE, input: operationSeen({ provider_ref: 're_2' }) }], theCase)
    expect(ruleOf(explained, 're_2')).toBe('Operation op_1 names this very object')
  })

  test('names no expected change that does not cover the action', () => {
    const other = expectedChange({ amount: 1, ...elsewhere(1, ['act_a']) })
    expect(ruleOf(judgedCase([refund('re_1')], [other]), 're_1')).toBe('Nothing explains it')
  })

  test('is listed again if the expected change is used up later', () => {
    const theCase = { ...judgedCase([refund('re_1')], []), version: 2 }
    const used = expectedChange(elsewhere(1, ['act_a']))
    const later = stampChanged(
      play([{ at: T0 + 3 * MINUTE, input: expectedChangesInput(used) }], { ...theCase, version: 3 }),
      theCase,
    )
    expect(onlyAction(later).changedIn).toBe(3)
    const same = stampChanged(
      play([{ at: T0 + 4 * MINUTE, input: expectedChangesInput(used) }], { ...later, version: 4 }),
      later,
    )
    expect(onlyAction(same).changedIn).toBe(3)
  })
})

describe('the time of an expected change', () => {
  const alerted = judgedCase([refund('re_1')], [])
  const NOTED = T0 + 30 * MINUTE
  const apply = (expected: Partial<ExpectedChange>, theCase: Case = alerted) =>
    onlyAction(
      play(
        [
          {
            at: NOTED,
            input: expectedChangesInput(expectedChange({ createdAt: NOTED, expiresAt: NOTED + MINUTE, ...expected })),
          },
        ],
        theCase,
      ),
    )

  test('covers an open incident, even if its action is old', () => {
    expect(alertsOf(alerted)).toHaveLength(1)
    const action = apply({})
    expect(action).toMatchObject({ verdict: 'explained', reason: 'expected_change_matches', expectedChangeId: 'exp_1' })
    expect(action.incidents).toMatchObject([{ state: 'resolved', resolution: 'Expected change exp_1 covers it' }])
    expect(action.timeline.at(-1)).toMatchObject({ what: 'incident_resolved', text: expect.stringContaining('exp_1') })
  })

  test('does not cover an old action whose incident opens later', () => {
    const late = sightingInput(refundShown({ ...CHARGED }))
    const seen = play([{ at: NOTED + MINUTE, input: late }], emptyCase())
    expect(apply({}, seen).verdict).toBe('pending')
  })

  test('covers an action whose second look was still to come', () => {
    const pending = play([{ at: NOTED - SECOND, input: refund('re_1') }])
    expect(apply({}, pending).verdict).toBe('explained')
  })

  test('covers from its start, if it has one', () => {
    expect(apply({ startsAt: T0 + SECOND }).verdict).toBe('unexplained')
    expect(apply({ startsAt: T0 }).verdict).toBe('explained')
    expect(apply({ startsAt: NOTED + 1 }).verdict).toBe('unexplained')
  })

  test('does not cover actions that were made after it expired', () => {
    expect(apply({ startsAt: T0 - MINUTE, expiresAt: T0 }).verdict).toBe('unexplained')
  })

  test('stops covering a cancellation that turns out to have been requested before its start', () => {
    const expected = expectedChange({ kind: 'cancellation', startsAt: T0 })
    const seen = play([
      { at: T0 + 21 * MINUTE, input: sightingInput(scheduledCancellation(T0 + 20 * MINUTE)) },
      { at: T0 + 21 * MINUTE, input: expectedChangesInput(expected) },
    ])
    expect(onlyAction(seen).expectedChangeId).toBe('exp_1')
    const earlier = sightingInput(scheduledCancellation(T0 - MINUTE))
    const later = lookAll(play([{ at: T0 + 22 * MINUTE, input: earlier }], seen))
    expect(onlyAction(later)).toMatchObject({ verdict: 'unexplained', expectedChangeId: null })
  })
})
