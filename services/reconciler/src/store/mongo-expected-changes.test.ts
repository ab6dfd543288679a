import { expect, test } from 'vitest'
import { usesOf } from './mongo-expected-changes.ts'

test('a use that was stored without the version of its case is older than any', () => {
  const uses = [{ action_id: 'act_1', amount: 5 }]
  const stored = { _id: 'exp_1', project_id: 'prj_1', version: 2, uses, expires_at: new Date(9) }
  expect(usesOf(stored).uses).toEqual([{ actionId: 'act_1', amount: 5, caseVersion: 0 }])
})
