/** Expected changes that are limited to a customer, or whose limits apply to each period. */
import { type LimitInterval, periodOf, usesIdOf } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { madeBy, ofCustomer } from '../../test/details.ts'
import { expectedChange } from '../../test/expected-changes.ts'
import { lookAll, MINUTE, onlyAction, play, SECOND, T0 } from '../../test/fixtures.ts'
import { refundShown, sightingInput } from '../../test/sightings.ts'
import type { Case } from '../case/case.ts'
import { erasePersonalData } from '../case/erase-personal-data.ts'
import type { ExpectedChange } from '../case/expected-change.ts'
import { projectAction } from '../show/projection.ts'

const DAY = 24 * 60 * MINUTE
const MONDAY = Date.parse('2026-11-23T00:00:00Z')

const customer = (id: string) => ({ customer: { ...ofCustomer('').customer!, name: null, id } })
const refund = (more: object = {}) => sightingInput(refundShown(more))

/** The case after these refunds and their second looks, with these expected changes. */
function judgedCase(refunds: ReturnType<typeof refund>[], ...expectedChanges: ExpectedChange[]): Case {
  return lookAll(
    play([
      ...refunds.map(input => ({ at: T0 + SECOND, input })),
      { at: T0 + 2 * SECOND, input: { kind: 'expected_changes', expectedChanges } },
    ]),
  )
}

const verdictOf = (theCase: Case) => onlyAction(theCase).verdict
const ruleOf = (theCase: Case) => projectAction(theCase, onlyAction(theCase)).why?.rule

describe('an expected change of one customer', () => {
  const expected = expectedChange({ id: 'exp_1/total', customerId: 'cus_1', maxChanges: 9 })

  test('covers changes of this customer, and no others', () => {
    expect(verdictOf(judgedCase([refund({ details: customer('cus_1') })], expected))).toBe('explained')
    const other = judgedCase([refund({ details: customer('cus_2') })], expected)
    expect([verdictOf(other), ruleOf(other)]).toEqual(['unexplained', 'Nothing explains it'])
  })

  test('covers no change of an unknown customer, and the rule of the action says so', () => {
    const theCase = judgedCase([refund()], expected)
    expect(verdictOf(theCase)).toBe('unexplained')
    expect(ruleOf(theCase)).toBe(
      'Nothing explains it; expected change exp_1 would cover it, but covers only customer cus_1, and the provider names no customer',
    )
  })

  test('covers a change whose customer becomes known after the alert', () => {
    const alerted = judgedCase([refund()], expected)
    const named = refund({ details: customer('cus_1'), stateVersion: 2 })
    expect(verdictOf(play([{ at: T0 + 2 * MINUTE, input: named }], alerted))).toBe('explained')
  })

  test('stops covering a change of which the provider names another customer', () => {
    const covered = judgedCase([refund({ details: customer('cus_1'), stateVersion: 1 })], expected)
    const named = refund({ details: customer('cus_2'), stateVersion: 2 })
    expect(verdictOf(play([{ at: T0 + 2 * MINUTE, input: named }], covered))).not.toBe('explained')
  })

  test('keeps a change whose customer is erased', () => {
    const mail = 'ann@example.com'
    const covered = judgedCase([refund({ details: customer(mail) })], { ...expected, customerId: mail })
    const erased = erasePersonalData(covered, 'all', T0 + DAY)
    expect(onlyAction(erased).sides[0]?.details).toBeUndefined()
    expect(verdictOf(play([{ at: T0 + DAY, input: refund({ stateVersion: 3 }) }], erased))).toBe('explained')
  })
})

describe('an expected change of one actor', () => {
  const expected = expectedChange({ id: 'exp_1/total', actorId: 'acr_1', maxChanges: 9 })
  const madeByActor = (id: string) => ({
    ...madeBy({ channel: 'dashboard', user: 'ana@example.com' }),
    actor: { id, kind: 'dashboard_user' as const },
  })

  test('covers what the actor made, and nothing of others', () => {
    expect(verdictOf(judgedCase([refund({ details: madeByActor('acr_1') })], expected))).toBe('explained')
    const other = judgedCase([refund({ details: madeByActor('acr_2') })], expected)
    expect([verdictOf(other), ruleOf(other)]).toEqual(['unexplained', 'Nothing explains it'])
  })

  test('covers no change whose actor the provider does not name, and the rule of the action says so', () => {
    expect(ruleOf(judgedCase([refund({ details: madeBy({ channel: 'api' }) })], expected))).toBe(
      'Nothing explains it; expected change exp_1 would cover it, but covers only actor acr_1, and the provider does not say who made it',
    )
  })

  test('keeps a change whose actor is erased', () => {
    const covered = judgedCase([refund({ details: madeByActor('acr_1') })], expected)
    const erased = erasePersonalData(covered, 'all', T0 + DAY)
    expect(projectAction(erased, onlyAction(erased)).actor_id).toBeUndefined()
    expect(verdictOf(play([{ at: T0 + DAY, input: refund({ stateVersion: 3 }) }], erased))).toBe('explained')
  })

  test('is the reason only if no other expected change covers the action but is used up', () => {
    const used = expectedChange({ id: 'exp_2', usedElsewhere: { changes: 1, amount: 0, by: ['act_a'] } })
    expect(ruleOf(judgedCase([refund()], expected, used))).toContain('expected change exp_2 would cover it')
  })
})

describe('an expected change with limits for each period', () => {
  const of = (interval: LimitInterval, at: number, more: Partial<ExpectedChange> = {}) =>
    expectedChange({
      id: usesIdOf({ _id: 'exp_1', limits: { interval } }, at),
      period: { interval, ...periodOf(interval, at) },
      createdAt: T0 - 30 * DAY,
      startsAt: T0 - 30 * DAY,
      expiresAt: T0 + 30 * DAY,
      maxChanges: 9,
      ...more,
    })

  test.each([
    ['the first moment of the week', MONDAY, true],
    ['the last moment of the week', MONDAY + 7 * DAY - 1, true],
    ['the moment before the week', MONDAY - 1, false],
    ['the first moment of the next week', MONDAY + 7 * DAY, false],
  ])('covers by the time of the provider: %s', (_, createdAt, isCovered) => {
    const theCase = judgedCase([refund({ createdAt })], of('week', MONDAY + DAY))
    expect(verdictOf(theCase) === 'explained').toBe(isCovered)
  })

  test('covers as much money as its limit in each period', () => {
    const limits = { maxAmount: 500_00, currency: 'eur' }
    const theCase = judgedCase(
      [
        refund({ providerRef: 're_1', amount: 300_00, createdAt: MONDAY - 1 }),
        refund({ providerRef: 're_2', amount: 300_00, createdAt: MONDAY - 2 }),
        refund({ providerRef: 're_3', amount: 300_00, createdAt: MONDAY }),
      ],
      of('week', MONDAY - 1, limits),
      of('week', MONDAY, limits),
    )
    const covered = theCase.actions.map(({ providerRef, expectedChangeId }) => [providerRef, expectedChangeId])
    expect(Object.fromEntries(covered)).toEqual({
      re_1: 'exp_1/2026-11-16',
      re_2: null,
      re_3: 'exp_1/2026-11-23',
    })
  })

  test('counts a change in another period if the provider gives another time', () => {
    const covered = judgedCase(
      [refund({ createdAt: MONDAY, stateVersion: 1 })],
      of('week', MONDAY - 1),
      of('week', MONDAY),
    )
    expect(onlyAction(covered).expectedChangeId).toBe('exp_1/2026-11-23')
    const redated = play([{ at: T0 + 2 * MINUTE, input: refund({ createdAt: MONDAY - 1, stateVersion: 2 }) }], covered)
    expect(onlyAction(redated)).toMatchObject({ verdict: 'explained', expectedChangeId: 'exp_1/2026-11-16' })
  })

  test('names its period in the rule of a covered action', () => {
    expect(ruleOf(judgedCase([refund()], of('week', T0)))).toBe(
      'Expected change exp_1 covers it, and counts it in the period from 2026-11-16',
    )
  })

  const used = (changes: number, amount: number) => ({ usedElsewhere: { changes, amount, by: ['act_a'] } })
  test.each<[string, ExpectedChange, string]>([
    [
      'a week whose money is used up',
      of('week', T0, { maxAmount: 500_00, currency: 'eur', ...used(1, 500_00) }),
      'the EUR 500.00 of the week from 2026-11-16 is used up by act_a',
    ],
    [
      'a month whose changes are used up',
      of('month', T0, { maxChanges: 3, ...used(3, 0) }),
      'the 3 of the month from 2026-11-01 are used up by act_a and 2 others',
    ],
    [
      'a day that has too little left',
      of('day', T0, { maxAmount: 5_00, currency: 'eur', usedElsewhere: { changes: 0, amount: 0 } }),
      'only EUR 5.00 of the EUR 5.00 of 2026-11-21 is left',
    ],
  ])('the rule of the action names %s', (_, expected, says) => {
    expect(ruleOf(judgedCase([refund()], expected))).toBe(
      `Nothing explains it; expected change exp_1 would cover it, but ${says}`,
    )
  })
})
