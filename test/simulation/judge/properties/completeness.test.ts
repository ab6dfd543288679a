import { expect, test } from 'vitest'
import { iso, judged, MINUTE, rightRun, T0, withLists } from '../right-run.ts'

test('a change of a period that is stated as complete is listed and has a verdict, even if it may have been hidden', () => {
  const stated = (more: object, actionsOf: (actions: readonly object[]) => object[]) => {
    const window = { watched_from: iso(T0 - MINUTE), complete_until: iso(T0 + MINUTE) }
    const connections = [{ provider: 'processor', answer: 'complete_so_far', ...window, ...more }]
    const run = withLists(rightRun(), ({ actions }) => ({ actions: actionsOf(actions), completeness: { connections } }))
    const begins = { fromMs: T0, toMs: T0 }
    run.truth.deeds[1]?.grounds.push({ reason: 'a ground', explains: false, begins, mayHide: true })
    return judged(run)
  }
  expect(stated({}, actions => [...actions])).toEqual([])
  expect(stated({}, ([first]) => [first ?? {}])).toEqual([expect.stringContaining('complete-periods-miss-nothing')])
  expect(stated({ complete_until: iso(T0) }, ([first]) => [first ?? {}])).toEqual([])
  expect(stated({ answer: 'open' }, ([first]) => [first ?? {}])).toEqual([])
})
