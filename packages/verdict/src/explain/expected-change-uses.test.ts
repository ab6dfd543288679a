import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { emptyCase } from '../../test/fixtures.ts'
import type { Case, EvictedRecord } from '../case/case.ts'
import {
  type ExpectedChangeUses,
  grantClaims,
  isUseOf,
  releaseClaims,
  type Use,
  usedElsewhere,
} from './expected-change-uses.ts'

const none: ExpectedChangeUses = { id: 'exp_1', projectId: 'prj_1', version: 0, uses: [], expiresAt: 0 }
const use = (actionId: string, amount = 0) => ({ actionId, amount })
const claim = (caseId: string, uses: ReturnType<typeof use>[], surplus: string[] = [], caseVersion = 1) => ({
  caseId,
  caseVersion,
  uses,
  held: [] as string[],
  surplus,
})
const releaseOf = (...surplus: string[]) => [{ surplus, caseVersion: 1 }]
const ONE = { maxChanges: 1, maxAmount: null }

describe('the uses of an expected change', () => {
  test('are granted in order while some are left', () => {
    const { next, refused } = grantClaims(none, ONE, [claim('a', [use('act_a')]), claim('b', [use('act_b')])])
    expect(next).toMatchObject({ version: 1, uses: [use('act_a')] })
    expect(refused).toEqual(new Set(['b']))
  })

  test('are granted once per action', () => {
    const { next } = grantClaims(none, ONE, [claim('a', [use('act_a')])])
    expect(grantClaims(next, ONE, [claim('a', [use('act_a')])])).toEqual({ next, refused: new Set() })
  })

  test('are moved within a case: uses that it no longer needs make room', () => {
    const { next } = grantClaims(none, ONE, [claim('a', [use('act_old')])])
    expect(grantClaims(next, ONE, [claim('a', [use('act_new')], ['act_old'])]).next.uses).toMatchObject([
      use('act_new'),
    ])
    const roomy = grantClaims(next, { ...ONE, maxChanges: 2 }, [claim('a', [use('act_new')], ['act_old'])])
    expect(roomy.next.uses).toMatchObject([use('act_old'), use('act_new')])
  })

  test('follow a changed amount if the total allows it', () => {
    const limits = { maxChanges: 5, maxAmount: 100 }
    const { next } = grantClaims(none, limits, [claim('a', [use('act_a', 60)])])
    expect(grantClaims(next, limits, [claim('a', [use('act_a', 100)])]).next.uses).toMatchObject([use('act_a', 100)])
    expect(grantClaims(next, limits, [claim('a', [use('act_a', 101)])]).refused).toEqual(new Set(['a']))
  })

  test('are released once', () => {
    const { next } = grantClaims(none, ONE, [claim('a', [use('act_a')])])
    const given = releaseClaims(next, releaseOf('act_a'))
    expect(given.uses).toEqual([])
    expect(releaseClaims(given, releaseOf('act_a'))).toBe(given)
  })

  test('are not released by a decision that is older than the last claim, in any order of claims', () => {
    const { next } = grantClaims(none, ONE, [claim('a', [use('act_a')], [], 3)])
    const late = grantClaims(next, ONE, [claim('a', [use('act_a')], [], 2)]).next
    expect(releaseClaims(late, [{ surplus: ['act_a'], caseVersion: 2 }])).toBe(late)
    expect(releaseClaims(late, [{ surplus: ['act_a'], caseVersion: 3 }]).uses).toEqual([])
  })

  test('are stored again for actions that are already covered, even beyond the limit, and count for others then', () => {
    const { next } = grantClaims(none, ONE, [claim('b', [use('act_b')])])
    const again = grantClaims(next, ONE, [
      { ...claim('a', [use('act_a')]), held: ['act_a'] },
      claim('c', [use('act_c')]),
    ])
    expect(again.next.uses).toMatchObject([use('act_b'), use('act_a')])
    expect(again.refused).toEqual(new Set(['c']))
  })

  test('never exceed the limits after any claims and releases', () => {
    const actions = fc.constantFrom('act_1', 'act_2', 'act_3', 'act_4', 'act_5')
    const uses = fc.uniqueArray(fc.record({ actionId: actions, amount: fc.nat(50) }), { selector: one => one.actionId })
    const step = fc.oneof(
      fc.record({ kind: fc.constant('grant' as const), uses, surplus: fc.array(actions) }),
      fc.record({ kind: fc.constant('back' as const), ids: fc.array(actions) }),
    )
    const limits = fc.record({ maxChanges: fc.integer({ min: 1, max: 4 }), maxAmount: fc.option(fc.nat(100)) })
    fc.assert(
      fc.property(limits, fc.array(step), (limit, steps) => {
        let stored = none
        for (const one of steps) {
          if (one.kind === 'back') stored = releaseClaims(stored, releaseOf(...one.ids))
          else stored = grantClaims(stored, limit, [claim('a', one.uses, one.surplus)]).next
          const { changes, amount } = usedElsewhere(stored, () => false)
          expect(changes).toBeLessThanOrEqual(limit.maxChanges)
          expect(amount).toBeLessThanOrEqual(limit.maxAmount ?? Number.POSITIVE_INFINITY)
          expect(new Set(stored.uses.map(({ actionId }) => actionId)).size).toBe(stored.uses.length)
        }
      }),
    )
  })
})

test('a use is of the case that claimed it, also without its action, once another decision has stored that version', () => {
  const theCase = { ...emptyCase(), id: 'case_1' }
  const orphan = { actionId: 'act_a', amount: 5, caseId: 'case_1', caseVersion: 2 }
  const isOwn = (savedVersion: number, one: Use = orphan, of: Case = theCase) => isUseOf(of, savedVersion)(one)
  expect([isOwn(1), isOwn(2), isOwn(3)]).toEqual([false, true, true])
  expect(isOwn(3, { ...orphan, caseId: 'case_2' })).toBe(false)
  expect(isOwn(3, { actionId: 'act_a', amount: 5, caseVersion: 2 })).toBe(false)
  const evicted = [{ actionId: 'act_a' } as EvictedRecord]
  expect(isOwn(3, orphan, { ...theCase, evicted })).toBe(false)
})
