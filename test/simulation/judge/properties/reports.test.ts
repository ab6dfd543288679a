import { expect, test } from 'vitest'
import { judged, rightRun, withLists } from '../right-run.ts'

test('an operation has the id of each report that was confirmed', () => {
  const run = rightRun()
  run.truth.reports.push({ operationId: 'op_1', state: 'completed', providerRef: 're_first' })
  const withRef = (provider_ref: string) =>
    judged(withLists(run, () => ({ operations: [{ operation_id: 'op_1', state: 'completed', provider_ref }] })))
  expect(withRef('re_first')).toEqual([])
  expect(withRef('re_second')).toEqual([expect.stringContaining('reports-are-recorded-once')])
})
