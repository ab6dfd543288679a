import type { ExpectedChangeDocument } from '@backstop/contracts'
import { expectedChangeDocument, MINUTE, PROJECT, T0 } from '@backstop/verdict/test'
import { beforeEach, describe, expect, test } from 'vitest'
import {
  type ExpectedChangeStore,
  type ExpectedChangeUsesStore,
  MAX_FOUND_PER_SUBJECT,
} from '../src/batch/expected-change-store.ts'
import type { ReconcilerStores } from '../src/stores.ts'

/** The stores of expected changes and of their uses. */
export type ExpectedChangesUnderTest = Pick<ReconcilerStores, 'expectedChanges' | 'expectedChangeUses'>

/** The tests for every implementation of the stores of expected changes. Each test gets an empty store. */
export function expectedChangeContract(name: string, open: () => Promise<ExpectedChangesUnderTest>): void {
  describe(`expected changes, ${name}`, () => {
    let expectedChanges: ExpectedChangeStore
    let expectedChangeUses: ExpectedChangeUsesStore
    beforeEach(async () => {
      ;({ expectedChanges, expectedChangeUses } = await open())
    })
    const addExpectedChanges = (list: readonly ExpectedChangeDocument[]) => expectedChanges.addAll(list)

    const found = async (names: string[], expiringAfter = T0 - MINUTE, projectIds = [PROJECT]) => {
      const list = await expectedChanges.find({ projectIds, names, expiringAfter })
      return list.map(({ _id }) => _id).sort()
    }

    test('are found by their subject, or if it is missing or empty; those of other projects are not', async () => {
      await addExpectedChanges([
        expectedChangeDocument('any'),
        expectedChangeDocument('limited', { subject: '' }),
        expectedChangeDocument('pi_1', { subject: 'pi_1' }),
        expectedChangeDocument('pi_2', { subject: 'pi_2' }),
        expectedChangeDocument('pi_3', { subject: 'pi_3' }),
        expectedChangeDocument('other', { project_id: 'prj_other' }),
        expectedChangeDocument('other_pi_1', { project_id: 'prj_other', subject: 'pi_1' }),
      ])
      expect(await found(['pi_1', 'pi_2', 'pi_0'])).toEqual(['any', 'limited', 'pi_1', 'pi_2'])
      expect(await found([])).toEqual(['any', 'limited'])
      expect(await found(['pi_1'], T0, [PROJECT, 'prj_other'])).toEqual([
        'any',
        'limited',
        'other',
        'other_pi_1',
        'pi_1',
      ])
    })

    test('keep those with the same ids, also deleted ones, when a command is repeated', async () => {
      const first = expectedChangeDocument('exp_1')
      await addExpectedChanges([first, expectedChangeDocument('deleted', { deleted_at: new Date(T0) })])
      const again = ['exp_1', 'deleted', 'exp_2'].map(id => expectedChangeDocument(id, { note: 'Said again' }))
      await addExpectedChanges(again)
      await addExpectedChanges([])
      expect(await expectedChanges.byIds(['exp_1', 'deleted'])).toEqual([first])
      expect(await found([])).toEqual(['exp_1', 'exp_2'])
    })

    test('are found completely until long after they expired', async () => {
      const expectedChange = expectedChangeDocument('exp_1', { subject: 'pi_1', amount: 2499, currency: 'eur' })
      await addExpectedChanges([expectedChange])
      expect(await expectedChanges.find({ projectIds: [PROJECT], names: ['pi_1'], expiringAfter: T0 })).toEqual([
        expectedChange,
      ])
      expect(await found(['pi_1'], T0 + 1)).toEqual([])
    })

    test('are limited to those that expire last, and many in one project do not hide those of another', async () => {
      const flood = Array.from({ length: MAX_FOUND_PER_SUBJECT + 1 }, (_, index) =>
        expectedChangeDocument(`exp_${index}`, { expires_at: new Date(T0 + index) }),
      )
      await addExpectedChanges([
        ...flood,
        expectedChangeDocument('named', { subject: 'pi_1' }),
        expectedChangeDocument('other', { project_id: 'prj_other' }),
      ])
      const ids = await found(['pi_1'], T0, [PROJECT, 'prj_other'])
      expect(ids).toHaveLength(MAX_FOUND_PER_SUBJECT + 2)
      expect(ids).not.toContain('exp_0')
      expect(ids).toEqual(expect.arrayContaining(['named', 'other', 'exp_1']))
    })

    test('expected changes are found by their ids and by their time of creation', async () => {
      const [old, young] = [
        expectedChangeDocument('old'),
        expectedChangeDocument('young', { created_at: new Date(T0) }),
      ]
      await addExpectedChanges([young, old])
      expect(await expectedChanges.byIds(['young', 'none'])).toEqual([young])
      expect(await expectedChanges.madeSince(T0, 10)).toEqual([young])
      expect(await expectedChanges.madeSince(T0 - MINUTE, 1)).toEqual([young])
    })

    test('a deleted expected change is not found', async () => {
      const deleted = expectedChangeDocument('deleted', {
        created_at: new Date(T0),
        deleted_at: new Date(T0),
        deleted_by: 'key_1',
      })
      await addExpectedChanges([deleted])
      const { project_id, subject } = deleted
      const query = { projectIds: [project_id], names: subject === null ? [] : [subject], expiringAfter: 0 }
      expect(await expectedChanges.find(query)).toEqual([])
      expect(await expectedChanges.byIds(['deleted'])).toEqual([])
      expect(await expectedChanges.madeSince(T0, 10)).toEqual([])
    })

    test('the newest expected changes are found for each project, so many in one project do not hide those of another', async () => {
      const flood = [1, 2, 3].map(index => expectedChangeDocument(`exp_${index}`, { created_at: new Date(T0 + index) }))
      await addExpectedChanges([...flood, expectedChangeDocument('other', { project_id: 'prj_other' })])
      const found = await expectedChanges.madeSince(T0 - MINUTE, 2)
      expect(found.map(({ _id }) => _id).sort()).toEqual(['exp_2', 'exp_3', 'other'])
    })

    test('all uses of an expected change are found, in all periods, and those of no other', async () => {
      const uses = (id: string) => ({ id, projectId: PROJECT, version: 1, uses: [], expiresAt: T0 })
      const ids = ['exp_1', 'exp_1/2026-11-09', 'exp_1/total', 'exp_10', 'exp_10/total', 'exp_0']
      for (const id of ids) await expectedChangeUses.save(uses(id))
      expect((await expectedChangeUses.allOf('exp_1')).map(({ id }) => id).sort()).toEqual(ids.slice(0, 3))
    })

    test('one of two writers of the uses of an expected change succeeds', async () => {
      expect(await expectedChangeUses.load(['exp_1'])).toEqual(new Map())
      const uses = (version: number, ...names: string[]) => ({
        id: 'exp_1',
        projectId: PROJECT,
        version,
        uses: names.map(actionId => ({ actionId, amount: 5, caseId: 'cas_1', caseVersion: 3 })),
        expiresAt: T0,
      })
      expect(await expectedChangeUses.save(uses(1, 'act_1'))).toBe(true)
      expect(await expectedChangeUses.save(uses(1, 'act_2'))).toBe(false)
      expect(await expectedChangeUses.save(uses(2, 'act_1', 'act_2'))).toBe(true)
      expect(await expectedChangeUses.save(uses(2))).toBe(false)
      expect(await expectedChangeUses.load(['exp_1', 'exp_2'])).toEqual(new Map([['exp_1', uses(2, 'act_1', 'act_2')]]))
    })
  })
}
