import { expect, test } from 'vitest'
import { usesOf } from './expected-change-store.ts'

test("a use that was stored without its case's version is older than all others", () => {
  const uses = [{ action_id: 'act_1', amount: 5 }]
  const stored = { _id: 'exp_1', project_id: 'prj_1', version: 2, uses, expires_at: new Date(9) }
  expect(usesOf(stored).uses).toEqual([{ actionId: 'act_1', amount: 5, caseVersion: 0 }])
})
