/**
 * A refund of an operation that is reported as failed may have moved money. The ledger loads such an operation for the
 * look.
 */
import { openMemoryBooks } from '@backstop/ledger/test'
import {
  alertsOf,
  CONNECTION,
  lookAll,
  MINUTE,
  onlyAction,
  play,
  policy,
  refundSeen,
  SECOND,
  T0,
} from '@backstop/verdict/test'
import { expect, test } from 'vitest'
import { connectionOf } from './connection-of.ts'

const REPORT = { connection_id: CONNECTION, kind: 'refund', subject: 'pi_1', amount: 2499, currency: 'eur' } as const

test('explains the refund and raises drift when it timed out and was reported as failed without executing', async () => {
  const { ledger } = openMemoryBooks({ announce: () => {} })
  const { operation } = await ledger.record(
    { ...REPORT, state: 'requested' },
    connectionOf(CONNECTION, {}),
    T0 - SECOND,
  )
  const { operation: failed } = await ledger.transition(
    operation.operation_id,
    { to: 'failed', reason: 'timeout' },
    T0 + 30 * SECOND,
  )
  const theCase = play([
    { at: T0 + 40 * SECOND, input: refundSeen() },
    { at: T0 + 41 * SECOND, input: { kind: 'operation', operation: failed } },
  ])
  expect(onlyAction(lookAll(theCase, [policy()]))).toMatchObject({
    verdict: 'explained',
    reason: 'amount_and_time_match',
    operationId: failed.operation_id,
    differences: [{ field: 'state', operation_says: 'failed', provider_says: 'succeeded' }],
  })
  expect(alertsOf(theCase)).toEqual(['drift.detected'])
  expect(await ledger.hasExecuted([CONNECTION])).toEqual(new Set([CONNECTION]))
})

test('does not explain an action that was made after its request failed while it waited for approval', async () => {
  const { ledger } = openMemoryBooks({ announce: () => {} })
  const report = { ...REPORT, state: 'approval_pending' } as const
  const { operation } = await ledger.record(report, connectionOf(CONNECTION, {}), T0 - SECOND)
  const { operation: failed } = await ledger.transition(operation.operation_id, { to: 'failed' }, T0)
  const theCase = play([
    { at: T0 + MINUTE, input: refundSeen() },
    { at: T0 + MINUTE, input: { kind: 'operation', operation: failed } },
  ])
  expect(onlyAction(theCase).verdict).toBe('pending')
})

test('explains the refund of a repeated call without drift when the call was reported as failed an hour before', async () => {
  const { ledger } = openMemoryBooks({ announce: () => {} })
  const report = { ...REPORT, idempotency_key: 'order-1' }
  const { operation: failed } = await ledger.record({ ...report, state: 'failed' }, connectionOf(CONNECTION, {}), T0)
  const repeatedAt = T0 + 60 * MINUTE
  const completed = { ...report, state: 'completed', provider_ref: 're_1' } as const
  const { operation } = await ledger.record(completed, connectionOf(CONNECTION, {}), repeatedAt + SECOND)
  const theCase = play([
    { at: T0 + SECOND, input: { kind: 'operation', operation: failed } },
    { at: repeatedAt, input: refundSeen({ createdAt: repeatedAt, reportedAt: repeatedAt }) },
    { at: repeatedAt + SECOND, input: { kind: 'operation', operation } },
  ])
  expect(onlyAction(lookAll(theCase, [policy()]))).toMatchObject({
    verdict: 'explained',
    reason: 'provider_ref_matches',
    operationId: operation.operation_id,
    differences: [],
  })
  expect(alertsOf(theCase)).toEqual([])
})
