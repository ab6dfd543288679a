import type { Operation } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { MINUTE, operation, play, type RefundFacts, refundSeen, SECOND, T0 } from '../../test/fixtures.ts'
import { assignOperations, claimOf, madeBeforeConnection } from './explain.ts'
import type { ActionRecord } from './subject.ts'

function action(facts: RefundFacts = {}): ActionRecord {
  return play([{ at: T0, input: refundSeen(facts) }]).actions[0]!
}

const at = (ms: number) => new Date(ms).toISOString()

describe('whether an operation claims an action', () => {
  const rows: { name: string; refund?: RefundFacts; operation?: Partial<Operation>; claim: string }[] = [
    { name: 'its provider_ref is the refund', operation: { provider_ref: 're_1' }, claim: 'provider_ref_matches' },
    {
      name: 'its provider_ref is the refund, though amount and time differ',
      operation: {
        provider_ref: 're_1',
        amount: 1,
        executing_at: at(T0 - 90 * MINUTE),
        ended_at: at(T0 - 80 * MINUTE),
      },
      claim: 'provider_ref_matches',
    },
    {
      name: 'its provider_ref is another refund, though everything else agrees',
      refund: { idempotencyKey: 'k' },
      operation: { provider_ref: 're_2', idempotency_key: 'k' },
      claim: 'other_provider_ref',
    },
    {
      name: "its idempotency key is the event's",
      refund: { idempotencyKey: 'k' },
      operation: { idempotency_key: 'k', amount: 1 },
      claim: 'idempotency_key_matches',
    },
    {
      name: "its idempotency key is not the event's, and amount and time agree",
      refund: { idempotencyKey: 'k' },
      operation: { idempotency_key: 'other' },
      claim: 'amount_and_time_match',
    },
    { name: 'subject, amount, currency and time agree', claim: 'amount_and_time_match' },
    {
      name: 'it names the charge instead of the payment intent',
      operation: { subject: 'ch_1' },
      claim: 'amount_and_time_match',
    },
    { name: 'it is about another payment', operation: { subject: 'pi_2' }, claim: 'other_subject' },
    { name: 'it is of another amount', operation: { amount: 2500 }, claim: 'other_amount' },
    { name: 'it is in another currency', operation: { currency: 'usd' }, claim: 'other_amount' },
    { name: 'it leaves the currency out', operation: { currency: null }, claim: 'amount_and_time_match' },
    { name: 'it states no amount', operation: { amount: null, currency: null }, claim: 'other_amount' },
    { name: 'it is a cancellation', operation: { kind: 'cancellation' }, claim: 'other_kind' },
    { name: 'it is of another provider', operation: { provider: 'reseller' }, claim: 'other_kind' },
    {
      name: 'the refund was made two minutes before it began',
      operation: { executing_at: at(T0 + 2 * MINUTE), ended_at: at(T0 + 3 * MINUTE) },
      claim: 'amount_and_time_match',
    },
    {
      name: 'the refund was made two minutes and a second before it began',
      operation: { executing_at: at(T0 + 2 * MINUTE + SECOND), ended_at: at(T0 + 3 * MINUTE) },
      claim: 'outside_time_window',
    },
    {
      name: 'the refund was made 15 minutes after it ended',
      operation: { executing_at: at(T0 - 20 * MINUTE), ended_at: at(T0 - 15 * MINUTE) },
      claim: 'amount_and_time_match',
    },
    {
      name: 'the refund was made 15 minutes and a second after it ended',
      operation: { executing_at: at(T0 - 20 * MINUTE), ended_at: at(T0 - 15 * MINUTE - SECOND) },
      claim: 'outside_time_window',
    },
    {
      name: 'it began long ago and has not ended',
      operation: { state: 'executing', executing_at: at(T0 - 600 * MINUTE), ended_at: null },
      claim: 'amount_and_time_match',
    },
    ...(['requested', 'approval_pending', 'approved', 'declined', 'expired'] as const).map(state => ({
      name: `it is ${state}: it did nothing at the provider`,
      operation: { state, provider_ref: 're_1', executing_at: null, ended_at: null },
      claim: 'operation_did_not_act',
    })),
    ...(['executing', 'awaiting_review', 'failed', 'rejected', 'completed'] as const).map(state => ({
      name: `it is ${state}: it was sent to the provider`,
      operation: { state, provider_ref: 're_1' },
      claim: 'provider_ref_matches',
    })),
  ]
  test.each(rows)('$name → $claim', ({ refund, operation: facts, claim }) => {
    expect(claimOf(action(refund), operation(facts)).reason).toBe(claim)
  })
})

describe('which operation explains which action', () => {
  const first = action({ id: 're_1' })
  const second = action({ id: 're_2' })

  test('one operation explains one of two equal refunds only', () => {
    expect(assignOperations([first, second], [operation()]).size).toBe(1)
  })

  test('a stronger match takes the operation from the action that came first', () => {
    const assigned = assignOperations([first, second], [operation({ provider_ref: 're_2' })])
    expect([...assigned.keys()]).toEqual([second.id])
  })

  test('of two weak matches the one nearer in time wins', () => {
    const near = action({ id: 're_9', createdAt: T0 + SECOND })
    const far = action({ id: 're_0', createdAt: T0 + 5 * SECOND })
    expect([...assignOperations([far, near], [operation()]).keys()]).toEqual([near.id])
  })

  test('does not depend on the order of actions and operations', () => {
    const operations = [operation({ operation_id: 'op_1' }), operation({ operation_id: 'op_2' })]
    const pairs = (a: ActionRecord[], o: Operation[]) =>
      [...assignOperations(a, o)].map(([id, { operation: of }]) => `${id} ${of.operation_id}`).sort()
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
  test('it must lie before every connection that shows it', () => {
    expect(madeBeforeConnection(seen(T0, [T0 + MINUTE, T0 - MINUTE]))).toBe(false)
  })
})
