import { describe, expect, test } from 'vitest'
import { decideNextAttempt, decidePostponement } from './next-attempt.ts'

const T0 = 1_000_000_000_000
const HOUR = 3_600_000
const failed = { attempt: 1, firstAttemptAtMs: T0, nowMs: T0, test: false, retryAfterMs: null }

describe('the retry ladder', () => {
  test.each([
    { attempt: 1, afterS: 0, topic: 'deliveries.retry.5s', delayMs: 5_000 },
    { attempt: 2, afterS: 5, topic: 'deliveries.retry.1m', delayMs: 60_000 },
    { attempt: 3, afterS: 65, topic: 'deliveries.retry.10m', delayMs: 600_000 },
    { attempt: 4, afterS: 665, topic: 'deliveries.retry.1h', delayMs: HOUR },
    { attempt: 5, afterS: 4_265, topic: 'deliveries.retry.6h', delayMs: 6 * HOUR },
    { attempt: 11, afterS: 133_865, topic: 'deliveries.retry.6h', delayMs: 6 * HOUR },
    // The first attempt of a receiver that hangs lasts longer than the first rung.
    { attempt: 1, afterS: 10, topic: 'deliveries.retry.5s', delayMs: 5_000 },
  ])('after attempt $attempt, $afterS s after the first, the next one comes by $topic', one => {
    const { attempt, afterS, topic, delayMs } = one
    const nowMs = T0 + afterS * 1_000
    expect(decideNextAttempt({ ...failed, attempt, nowMs })).toEqual({
      kind: 'retry',
      attempt: attempt + 1,
      dueAtMs: nowMs + delayMs,
      topic,
      reason: 'ladder',
    })
  })

  test('is not climbed by attempts that were brought forward', () => {
    for (const attempt of [4, 5, 6])
      expect(decideNextAttempt({ ...failed, attempt, nowMs: T0 + 100_000 })).toMatchObject({
        topic: 'deliveries.retry.10m',
      })
  })

  test('ends 72 hours after the first attempt', () => {
    const last = decideNextAttempt({ ...failed, attempt: 15, nowMs: T0 + 66 * HOUR })
    expect(last.kind).toBe('retry')
    const over = decideNextAttempt({ ...failed, attempt: 15, nowMs: T0 + 66 * HOUR + 1 })
    expect(over).toEqual({ kind: 'no_retry', reason: 'retry_window_over' })
  })

  test('makes 16 attempts of a receiver that never answers', () => {
    let nowMs = T0
    let attempt = 1
    for (;;) {
      const next = decideNextAttempt({ ...failed, attempt, nowMs })
      if (next.kind === 'no_retry') break
      nowMs = next.dueAtMs
      attempt = next.attempt
    }
    expect(attempt).toBe(16)
  })
})

describe('Retry-After', () => {
  test.each([
    {
      name: 'shorter than the rung changes nothing',
      retryAfterMs: 1_000,
      topic: 'deliveries.retry.5s',
      reason: 'ladder',
    },
    {
      name: 'as long as the rung changes nothing',
      retryAfterMs: 5_000,
      topic: 'deliveries.retry.5s',
      reason: 'ladder',
    },
    { name: 'takes the rung above', retryAfterMs: 5_001, topic: 'deliveries.retry.1m', reason: 'retry_after' },
    { name: 'may skip rungs', retryAfterMs: 700_000, topic: 'deliveries.retry.1h', reason: 'retry_after' },
    {
      name: 'beyond the longest takes that',
      retryAfterMs: 24 * HOUR,
      topic: 'deliveries.retry.6h',
      reason: 'retry_after',
    },
  ])('$name', ({ retryAfterMs, topic, reason }) => {
    expect(decideNextAttempt({ ...failed, retryAfterMs })).toMatchObject({ topic, reason, attempt: 2 })
  })
})

test('a test is attempted once', () => {
  const outcome = decideNextAttempt({ ...failed, test: true, retryAfterMs: 1_000 })
  expect(outcome).toEqual({ kind: 'no_retry', reason: 'test_is_attempted_once' })
})

test.each([
  { name: 'at once', waitMs: 0, topic: 'deliveries.retry.5s' },
  { name: 'in half a minute', waitMs: 30_000, topic: 'deliveries.retry.5s' },
  { name: 'in a minute', waitMs: 60_000, topic: 'deliveries.retry.1m' },
  { name: 'in just under ten minutes', waitMs: 599_999, topic: 'deliveries.retry.1m' },
  { name: 'in an hour', waitMs: HOUR, topic: 'deliveries.retry.10m' },
])('a message that is put off and has its turn $name waits on $topic', ({ waitMs, topic }) => {
  expect(decidePostponement(waitMs).topic).toBe(topic)
})

test('a ladder that began anew starts from its first rung, and ends 72 hours after', () => {
  const anew = { ...failed, attempt: 17, ladderFromAttempt: 17, firstAttemptAtMs: failed.nowMs - 10 }
  expect(decideNextAttempt(anew)).toMatchObject({ attempt: 18, topic: 'deliveries.retry.5s' })
  const third = { ...anew, attempt: 19, nowMs: failed.nowMs + 65_000 }
  expect(decideNextAttempt(third)).toMatchObject({ attempt: 20, topic: 'deliveries.retry.10m' })
  const late = { ...anew, firstAttemptAtMs: failed.nowMs - 72 * HOUR }
  expect(decideNextAttempt(late)).toEqual({ kind: 'no_retry', reason: 'retry_window_over' })
})
