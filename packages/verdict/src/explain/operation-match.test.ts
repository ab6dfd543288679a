import type { Operation } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { MINUTE, operation, play, type RefundFacts, refundSeen, SECOND, T0 } from '../../test/fixtures.ts'
import type { ActionRecord } from '../case/action-record.ts'
import { assignOperations } from './assign-operations.ts'
import { madeBeforeConnection } from './operation-match.ts'

function action(facts: RefundFacts = {}): ActionRecord {
  return play([{ at: T0, input: refundSeen(facts) }]).actions[0]!
}

const explained = (actions: ActionRecord[], operations: Operation[]) =>
  assignOperations(actions, operations, T0 + MINUTE).explained

describe('the assignment of operations to actions', () => {
  const first = action({ id: 're_1' })
  const second = action({ id: 're_2' })

  test('one operation explains one of two equal refunds only', () => {
    expect(explained([first, second], [operation()]).size).toBe(1)
  })

  test('a stronger match takes the operation from the action that came first', () => {
    const assigned = explained([first, second], [operation({ provider_ref: 're_2' })])
    expect([...assigned.keys()]).toEqual([second.id])
  })

  test('the nearer in time of two weak matches is chosen', () => {
    const near = action({ id: 're_9', createdAt: T0 + SECOND })
    const far = action({ id: 're_0', createdAt: T0 + 5 * SECOND })
    expect([...explained([far, near], [operation()]).keys()]).toEqual([near.id])
  })

  test('does not depend on the order of actions and operations', () => {
    const operations = [operation({ operation_id: 'op_1' }), operation({ operation_id: 'op_2' })]
    const pairs = (a: ActionRecord[], o: Operation[]) =>
      [...explained(a, o)].map(([id, { operation: of }]) => `${id} ${of.operation_id}`).sort()
    expect(pairs([second, first], [...operations].reverse())).toEqual(pairs([first, second], operations))
  })
})

describe('made before the connection', () => {
  const seen = (createdAt: number, connections: number[]) => ({
    ...action({ createdAt }),
    seenThrough: connections.map((made, index) => ({ id: `con_${index}`, createdAt: made })),
  })
  test('a second earlier counts as before', () => {
    expect(madeBeforeConnection(seen(T0 - SECOND, [T0 + 700]))).toBe(true)
  })
  test('the same second counts as after, because providers give whole seconds', () => {
    expect(madeBeforeConnection(seen(T0, [T0 + 700]))).toBe(false)
  })
  test('the action must be older than every connection that shows it', () => {
    expect(madeBeforeConnection(seen(T0, [T0 + MINUTE, T0 - MINUTE]))).toBe(false)
  })
})
