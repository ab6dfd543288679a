import type { Operation } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import {
  lookAll,
  MINUTE,
  onlyAction,
  operation,
  operationSeen,
  play,
  policy,
  refundSeen,
  SECOND,
  T0,
} from '../../test/fixtures.ts'
import { scheduledCancellation, sightingInput } from '../../test/sightings.ts'
import type { Input } from '../decide/decide.ts'
import { whyOf } from './why.ts'

const DAY = 86_400_000
const at = (ms: number) => new Date(T0 + ms).toISOString()
const startedAt = (ms: number) => ({ executing_at: at(ms), ended_at: at(ms + SECOND), created_at: at(ms) })

/** The closest operation to a refund of EUR 24.99 on pi_1 that was made at 10:00. */
function closestTo(seen: Input, ...operations: Partial<Operation>[]) {
  const reported = operations.map((facts, index) => operationSeen({ operation_id: `op_${index}`, ...facts }))
  const theCase = lookAll(play([seen, ...reported].map(input => ({ at: T0 + MINUTE, input }))), [policy()])
  const action = theCase.actions.find(({ operationId }) => operationId === null) ?? onlyAction(theCase)
  return whyOf(theCase, action).closest
}

describe('the closest operation to an unexplained refund is named with the fact that differs:', () => {
  test.each<{ fact: string; facts: Partial<Operation>; failure: string; text: string }>([
    {
      fact: 'the amount',
      facts: { amount: 4999 },
      failure: 'other_amount',
      text: 'Your software reported a refund of EUR 49.99 on the same payment at 10:00 UTC; this one is EUR 24.99',
    },
    {
      fact: 'the time',
      facts: startedAt(-DAY),
      failure: 'outside_time_window',
      text: 'Your software reported a refund of EUR 24.99 on the same payment on 2026-11-20 at 10:00 UTC; this one was made on 2026-11-21 at 10:00 UTC',
    },
    {
      fact: 'the refund that it names',
      facts: { provider_ref: 're_2' },
      failure: 'other_provider_ref',
      text: 'Your software reported a refund of EUR 24.99 (re_2) on the same payment at 10:00 UTC; this one is re_1',
    },
    {
      fact: 'its state',
      facts: { state: 'declined', executing_at: null },
      failure: 'operation_did_not_act',
      text: 'Your software reported a refund of EUR 24.99 on the same payment at 10:00 UTC as declined, and not as sent to the provider',
    },
    {
      fact: 'the approval',
      facts: { unapproved: 'not_requested' as never },
      failure: 'operation_skipped_approval',
      text: 'Your software reported a refund of EUR 24.99 on the same payment at 10:00 UTC without the approval that it needs',
    },
    {
      fact: 'the payment',
      facts: { subject: 'pi_9', provider_ref: null },
      failure: 'other_subject',
      text: 'Your software reported a refund of EUR 24.99 on another payment (pi_9) at 10:00 UTC; this one is on pi_1',
    },
    {
      fact: 'the amount and the time',
      facts: { amount: 4999, ...startedAt(-3 * 3_600_000) },
      failure: 'other_amount',
      text: 'Your software reported a refund of EUR 49.99 on the same payment at 07:00 UTC; this one is EUR 24.99 and was made at 10:00 UTC',
    },
  ])('$fact', ({ facts, failure, text }) => {
    const { amount = 2499, executing_at = at(0) } = facts
    const reported = expect.objectContaining({ amount, currency: 'eur', at: executing_at ?? expect.any(String) })
    expect(closestTo(refundSeen(), facts)).toEqual({ operation_id: 'op_0', failure, text, reported })
  })
})

test('an operation that explains another refund is named for the second refund of the payment', () => {
  const theCase = lookAll(
    play(
      [operationSeen(), refundSeen(), refundSeen({ id: 're_2', createdAt: T0 + 5 * SECOND })].map(input => ({
        at: T0 + MINUTE,
        input,
      })),
    ),
  )
  const second = theCase.actions.find(({ providerRef }) => providerRef === 're_2')
  expect(whyOf(theCase, second!).closest).toMatchObject({
    failure: 'explains_another',
    text: 'Your software reported a refund of EUR 24.99 on the same payment at 10:00 UTC; this one was made in addition to the refund that already matches it',
  })
})

test('an operation of another kind is named only if no other is closer', () => {
  const cancellation = { kind: 'cancellation', amount: null, currency: null } as const
  expect(closestTo(refundSeen(), cancellation)).toMatchObject({
    failure: 'other_kind',
    text: 'Your software reported a cancellation on the same subscription at 10:00 UTC; this one is a refund',
  })
  expect(closestTo(refundSeen(), cancellation, { amount: 1 })).toMatchObject({ operation_id: 'op_1' })
})

test('the operation with the fewest differing facts is closest, and of these the nearest in time', () => {
  const near = { amount: 4999, ...startedAt(0) }
  const nearer = { amount: 1, ...startedAt(-SECOND) }
  expect(
    closestTo(refundSeen(), { ...near, subject: 'pi_9' }, { amount: 3, ...startedAt(-MINUTE) })?.operation_id,
  ).toBe('op_1')
  expect(closestTo(refundSeen(), { amount: 3, ...startedAt(-MINUTE) }, nearer)?.operation_id).toBe('op_1')
})

test('an unexplained cancellation is compared with an operation on its subscription', () => {
  const seen = sightingInput(scheduledCancellation(T0))
  const facts = { kind: 'cancellation', subject: 'sub_1', amount: null, currency: null, ...startedAt(-DAY) } as const
  expect(closestTo(seen, { ...facts, refs: [...operation({ subject: 'sub_1' }).refs] })).toMatchObject({
    text: 'Your software reported a cancellation on the same subscription on 2026-11-20 at 10:00 UTC; this one was requested on 2026-11-21 at 10:00 UTC',
  })
})

test('neither an explained action nor one without operations has a closest operation', () => {
  expect(closestTo(refundSeen(), {})).toBeUndefined()
  expect(closestTo(refundSeen())).toBeUndefined()
})
