import { expect, test } from 'vitest'
import { judged, rightRun, T0, withLists } from '../right-run.ts'

test('a change is listed, also if it is explained, unless the product may not have heard of it', () => {
  const reported = (mayHide?: true) => {
    const run = withLists(rightRun(), ({ actions }) => ({ actions: actions.slice(0, 1) }))
    const begins = { fromMs: T0, toMs: T0 }
    run.truth.deeds[1]?.grounds.push({ reason: 'a ground', explains: false, begins, ...(mayHide && { mayHide }) })
    return judged(run)
  }
  expect(reported()).toEqual([expect.stringContaining('one-action-for-each-change')])
  expect(reported(true)).toEqual([])
})

test('an operation has the id of each report that was confirmed', () => {
  const run = rightRun()
  run.truth.reports.push({ operationId: 'op_1', state: 'completed', providerRef: 're_first' })
  const withRef = (provider_ref: string) =>
    judged(withLists(run, () => ({ operations: [{ operation_id: 'op_1', state: 'completed', provider_ref }] })))
  expect(withRef('re_first')).toEqual([])
  expect(withRef('re_second')).toEqual([expect.stringContaining('reports-are-recorded-once')])
})
