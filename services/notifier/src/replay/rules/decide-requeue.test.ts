import type { DeliveryAttempt } from '@backstop/contracts'
import { expect, test } from 'vitest'
import { decideRequeue, overdueBefore, type RequeueFacts } from './decide-requeue.ts'

const WISH = { requestId: 'cmd_1', projectId: 'prj_1' }
const row = (attempt: number): DeliveryAttempt => ({
  attempt,
  at: new Date(0),
  duration_ms: 1,
  outcome: 'failed',
  status: 500,
  error: 'x',
  response: null,
})
const next = (attempt: number, topic: string) => ({ attempt, due_at: new Date(0), topic })
const delivery = (facts: Partial<RequeueFacts> = {}): RequeueFacts => ({
  project_id: 'prj_1',
  state: 'dead',
  test: false,
  attempts: [row(1), row(2)],
  next_attempt: null,
  ...facts,
})
const retrying = delivery({ state: 'retrying', next_attempt: next(3, 'deliveries.retry.1h') })

test.each([
  {
    name: 'a dead one',
    known: delivery(),
    expected: { kind: 'requeue', attempt: 3, waitsFor: null, ladderFrom: { attempt: 3, at: null } },
  },
  {
    name: 'a dead one that was never attempted',
    known: delivery({ attempts: [] }),
    expected: { kind: 'requeue', attempt: 1, waitsFor: null, ladderFrom: { attempt: 1, at: null } },
  },
  {
    name: 'one that waits on a delay line',
    known: retrying,
    expected: {
      kind: 'requeue',
      reason: 'brought_forward',
      attempt: 3,
      waitsFor: 3,
      ladderFrom: { attempt: 1, at: new Date(0) },
    },
  },
  {
    name: 'one that a person had attempted beside its ladder before',
    known: { ...retrying, requested_by: 'cmd_0', ladder_from: { attempt: 2, at: new Date(-5) } },
    expected: { kind: 'requeue', attempt: 3, ladderFrom: { attempt: 2, at: new Date(-5) } },
  },
  {
    name: 'one that is due',
    known: delivery({ state: 'pending', attempts: [], next_attempt: next(1, 'deliveries') }),
    expected: { kind: 'produce_again', reason: 'due_already', attempt: 1 },
  },
  {
    name: 'one that this command asked for, after a crash',
    known: { ...delivery({ state: 'retrying', next_attempt: next(3, 'deliveries') }), requested_by: 'cmd_1' },
    expected: { kind: 'produce_again', reason: 'asked_before', attempt: 3 },
  },
  {
    name: 'one that was attempted since this command asked for it',
    known: { ...retrying, requested_by: 'cmd_1' },
    expected: { kind: 'refuse', reason: 'attempted_since_asked' },
  },
  {
    name: 'one that died again since this command asked for it',
    known: { ...delivery(), requested_by: 'cmd_1' },
    expected: { kind: 'refuse', reason: 'attempted_since_asked' },
  },
  {
    name: 'one that another command asked for before',
    known: { ...delivery(), requested_by: 'cmd_0' },
    expected: { kind: 'requeue', attempt: 3 },
  },
  { name: 'a delivered one', known: delivery({ state: 'delivered' }), expected: { kind: 'refuse' } },
  { name: 'a superseded one', known: delivery({ state: 'superseded' }), expected: { kind: 'refuse' } },
  { name: 'a test', known: delivery({ test: true }), expected: { kind: 'refuse', reason: 'a_test' } },
  { name: 'one of another project', known: delivery({ project_id: 'prj_2' }), expected: { kind: 'refuse' } },
  { name: 'an unknown one', known: undefined, expected: { kind: 'refuse', reason: 'unknown' } },
])('a request to attempt $name now: $expected.kind', ({ known, expected }) => {
  expect(decideRequeue(WISH, known)).toMatchObject(expected)
})

test.each([
  {
    name: 'was due long before the replay',
    dueMs: -400_000,
    expected: {
      kind: 'requeue',
      reason: 'overdue',
      attempt: 3,
      waitsFor: 3,
      ladderFrom: { attempt: 2, at: row(1).at },
    },
  },
  { name: 'has just become due', dueMs: -1_000, expected: { kind: 'produce_again', reason: 'due_already' } },
])('a replay of a delivery that $name: $expected.kind', ({ dueMs, expected }) => {
  const due = { attempt: 3, due_at: new Date(dueMs), topic: 'deliveries' }
  const known = delivery({ state: 'retrying', next_attempt: due, ladder_from: { attempt: 2, at: row(1).at } })
  expect(decideRequeue({ ...WISH, overdueBefore: overdueBefore(new Date(0)) }, known)).toMatchObject(expected)
})

test('a replay of an overdue delivery that was never attempted starts its ladder now', () => {
  const due = { attempt: 1, due_at: new Date(-400_000), topic: 'deliveries' }
  const known = delivery({ state: 'pending', attempts: [], next_attempt: due })
  const decision = decideRequeue({ ...WISH, overdueBefore: overdueBefore(new Date(0)) }, known)
  expect(decision).toMatchObject({ kind: 'requeue', ladderFrom: { attempt: 1, at: null } })
})
