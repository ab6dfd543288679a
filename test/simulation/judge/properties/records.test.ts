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

test('a change that is explained is listed as explained', () => {
  const run = rightRun()
  const listed = (verdict: string) =>
    judged(withLists(run, ({ actions }) => ({ actions: [actions[0], { ...actions[1], verdict }] })))
  expect(listed('explained')).toEqual([])
  expect(listed('unexplained')).toEqual([expect.stringContaining('one-action-for-each-change')])
})

test('a change whose incident a person resolved before its explanation may stay unexplained', () => {
  const run = rightRun()
  run.truth.interventions.push({ incidentId: 'inc_re_reported', kind: 'resolve', at: { fromMs: T0 } })
  const late = { verdict: 'unexplained', incident_id: 'inc_re_reported' }
  expect(judged(withLists(run, ({ actions }) => ({ actions: [actions[0], { ...actions[1], ...late }] })))).toEqual([])
})

test('a change of an incident that a person made before it was opened again is not listed any more', () => {
  const run = rightRun()
  run.truth.interventions.push({ incidentId: 'inc_re_stranger', kind: 'resolve', at: { fromMs: T0, toMs: T0 } })
  const listed = (more: object) =>
    judged(withLists(run, ({ incidents }) => ({ incidents: incidents.map(one => ({ ...one, ...more })) })))
  expect(listed({ reopened: 1 })).toEqual([])
  expect(listed({ state: 'resolved' })).toEqual([])
  expect(listed({})).toEqual([expect.stringContaining('changes-of-incidents-are-listed')])
})
