import type { Reread } from '@backstop/contracts'
import type { ReadFailure } from '@backstop/providers'
import { describe, expect, test } from 'vitest'
import { type AskResult, decideRereadOutcome, RETRY_DELAY_MS, timeToRead, VERIFY_WITHIN_MS } from './reread-answer.ts'

const NOW = Date.parse('2026-11-21T10:00:00.000Z')

function reread(changes: Partial<Reread> = {}): Reread {
  return {
    reread_id: 'rrd_1',
    project_id: 'prj_1',
    connection_id: 'con_1',
    provider: 'processor',
    reason: 'second_look',
    event: null,
    look: { ref: 'prj_1/processor/pi_1', look_id: 'act_1', due_at: '2026-11-21T10:00:00.000Z' },
    targets: [{ type: 'refund', id: 're_1' }],
    first_requested_at: new Date(NOW).toISOString(),
    attempt: 1,
    ...changes,
  }
}

const failed = (failure: ReadFailure): AskResult => ({ kind: 'failed', failure, text: 'Why', retryAfterMs: null })

describe('the time that a re-read may take', () => {
  test.each([
    { name: 'ends before its look is judged without it', inMs: 4_000, takesMs: 3_750 },
    { name: 'is the usual time if its look was already judged', inMs: -60_000, takesMs: 10_000 },
    { name: 'is the usual time if too little time is left before', inMs: 600, takesMs: 10_000 },
  ])('$name', ({ inMs, takesMs }) => {
    expect(timeToRead(reread({ answer_by: new Date(NOW + inMs).toISOString() }), NOW)).toBe(takesMs)
  })

  test('is the usual time if no look waits', () => {
    expect(timeToRead(reread({ reason: 'hint' }), NOW)).toBe(10_000)
  })
})

describe('a re-read', () => {
  test('that is answered has the objects and the look', () => {
    const objects = [{ type: 'refund', body: { id: 're_1' } }]
    const answer = decideRereadOutcome(reread(), { kind: 'read', objects }, NOW - 1, NOW)
    expect(answer).toMatchObject({
      kind: 'answered',
      readback: { outcome: 'read', objects, look: { look_id: 'act_1' } },
    })
  })

  test.for<{ name: string; changes?: Partial<Reread>; asked: AskResult; ageMs?: number; is: string }>([
    { name: 'of an unknown object', asked: { kind: 'not_found' }, is: 'not_found' },
    { name: 'of a connection without a key', asked: { kind: 'cannot_ask', text: 'No key' }, is: 'unavailable' },
    { name: 'that fails', asked: failed('provider_unavailable'), is: 'unavailable' },
    {
      name: 'of a hint that fails',
      changes: { provider: 'subscription', reason: 'hint' },
      asked: failed('provider_unavailable'),
      is: 'again',
    },
    { name: 'whose key is refused', asked: failed('key_refused'), is: 'unavailable' },
    {
      name: 'of a hint whose key is refused',
      changes: { provider: 'subscription', reason: 'hint' },
      asked: failed('key_refused'),
      is: 'again',
    },
    {
      name: 'of a hint that fails for long',
      changes: { provider: 'subscription', reason: 'hint', attempt: 9 },
      asked: failed('rate_limited'),
      ageMs: VERIFY_WITHIN_MS - 1,
      is: 'again',
    },
    {
      name: 'of a hint that failed for 15 minutes',
      changes: { provider: 'subscription', reason: 'hint' },
      asked: failed('rate_limited'),
      ageMs: VERIFY_WITHIN_MS,
      is: 'unavailable',
    },
  ])('$name: $is', ({ changes, asked, ageMs = 0, is }) => {
    const answer = decideRereadOutcome(reread(changes), asked, NOW + ageMs - 1, NOW + ageMs)
    expect(answer.kind === 'again' ? 'again' : answer.readback.outcome).toBe(is)
  })

  test('is asked again with the next attempt, after the delay line', () => {
    const hint = reread({ provider: 'subscription', reason: 'hint' })
    const answer = decideRereadOutcome(hint, failed('rate_limited'), NOW - 1, NOW)
    expect(answer).toMatchObject({ kind: 'again', reread: { attempt: 2 }, dueAt: NOW + RETRY_DELAY_MS })
  })

  test('that ends without an answer has the reason, and no objects', () => {
    const answer = decideRereadOutcome(reread(), failed('unreachable'), NOW - 1, NOW)
    expect(answer).toMatchObject({ readback: { outcome: 'unavailable', failure: 'Why', objects: [] } })
  })
})
