import { hasExecuted, OperationState } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { decideTransition, hasEnded, isReachable } from './transition.ts'

/** The whole state machine as a table: a row for each state, and a column for each next state. */
const L = 'legal'
const S = 'already_there'
const E = 'already_ended'
const B = 'would_go_back'
const N = 'approval_not_asked'
const D = 'already_decided'

const COLUMNS: OperationState[] = [
  'requested',
  'approval_pending',
  'approved',
  'declined',
  'expired',
  'executing',
  'awaiting_review',
  'completed',
  'failed',
  'rejected',
]
// biome-ignore format: a table is read by its columns
const TABLE: Record<OperationState, string[]> = {
  //                 requ appr appd decl expd exec awai comp fail reje
  requested:        [ S,   L,   N,   N,   N,   L,   L,   L,   L,   L ],
  approval_pending: [ B,   S,   L,   L,   L,   L,   L,   L,   L,   L ],
  approved:         [ B,   B,   S,   D,   D,   L,   L,   L,   L,   L ],
  declined:         [ B,   B,   B,   S,   E,   L,   L,   L,   E,   L ],
  expired:          [ B,   B,   B,   E,   S,   L,   L,   L,   E,   L ],
  executing:        [ B,   B,   B,   B,   B,   S,   L,   L,   L,   L ],
  awaiting_review:  [ B,   B,   B,   B,   B,   B,   S,   L,   L,   L ],
  completed:        [ B,   B,   B,   E,   E,   B,   B,   S,   E,   E ],
  failed:           [ B,   B,   B,   E,   E,   B,   B,   L,   S,   L ],
  rejected:         [ B,   B,   B,   E,   E,   B,   B,   E,   E,   S ],
}

const rows = COLUMNS.flatMap(from =>
  COLUMNS.map((to, column) => ({
    name: `${from} → ${to} is ${TABLE[from][column]}`,
    from,
    to,
    wanted: TABLE[from][column],
  })),
)

describe('the state machine of an operation', () => {
  test('the table has every state', () => {
    expect(COLUMNS.toSorted()).toEqual(OperationState.options.toSorted())
    expect(rows).toHaveLength(100)
  })

  test.each(rows)('$name', ({ from, to, wanted }) => {
    const verdict = decideTransition(from, to)
    expect(verdict.kind === 'illegal' ? verdict.reason : verdict.kind).toBe(wanted)
  })

  test('an ended operation has no legal transition, unless it executes against a decision or the provider answers after a failure', () => {
    const onward: Partial<Record<OperationState, OperationState[]>> = {
      declined: ['executing', 'awaiting_review', 'completed', 'rejected'],
      expired: ['executing', 'awaiting_review', 'completed', 'rejected'],
      failed: ['completed', 'rejected'],
      completed: [],
      rejected: [],
    }
    for (const from of COLUMNS.filter(hasEnded)) {
      expect({ from, onward: COLUMNS.filter(to => decideTransition(from, to).kind === 'legal') }).toEqual({
        from,
        onward: onward[from],
      })
    }
  })

  test('an executed operation never counts as not executed again', () => {
    for (const from of COLUMNS.filter(hasExecuted)) {
      for (const to of COLUMNS) {
        if (decideTransition(from, to).kind === 'legal') expect(hasExecuted(to)).toBe(true)
      }
    }
  })
})

describe('reachable states', () => {
  const reachable = [
    { from: 'requested', to: 'requested', wanted: true },
    { from: 'requested', to: 'approved', wanted: true },
    { from: 'requested', to: 'declined', wanted: true },
    { from: 'approval_pending', to: 'completed', wanted: true },
    { from: 'executing', to: 'rejected', wanted: true },
    { from: 'executing', to: 'requested', wanted: false },
    { from: 'completed', to: 'executing', wanted: false },
    { from: 'declined', to: 'completed', wanted: true },
    { from: 'declined', to: 'approved', wanted: false },
    { from: 'failed', to: 'completed', wanted: true },
    { from: 'completed', to: 'failed', wanted: false },
    { from: 'failed', to: 'executing', wanted: false },
  ] as const
  test.each(reachable)('$from leads to $to: $wanted', ({ from, to, wanted }) => {
    expect(isReachable(from, to)).toBe(wanted)
  })
})
