import { expect, test } from 'vitest'
import { expectedChange } from '../../test/expected-changes.ts'
import { toCase } from './mongo-cases.ts'

test('a case that was stored before expected changes had limits is read with one change of any amount', () => {
  const { maxChanges: _changes, maxAmount: _amount, usedElsewhere: _used, startsAt: _from, ...old } = expectedChange()
  const stored = { version: 3, refs: ['ref_1'], outbox: [], writtenBy: 'token' }
  const state = JSON.stringify({ actions: [], notes: [old] })
  const { notes, version } = toCase({ _id: 'sub_1', project_id: 'prj_1', current: [{ ...stored, state }] })
  expect(notes).toEqual([expectedChange()])
  expect(version).toBe(3)
})
