import { describe, expect, test } from 'vitest'
import { decideNextAttempt, decidePostponement } from './next-attempt.ts'

const T0 = 1_000_000_000_000
const HOUR = 3_600_000
const failed = {
  ...{ attempt: 1, firstAttemptAtMs: T0, ladderAttemptsAtMs: [T0], nowMs: T0, test: false, retryAfterMs: null },
}

/** Attempts that begin so many seconds after the first one. */
const after = (...seconds: readonly number[]) => {
  const ladderAttemptsAtMs = [T0, ...seconds.map(second => T0 + second * 1_000)]
  const nowMs = ladderAttemptsAtMs.at(-1) ?? T0
  return decideNextAttempt({ ...failed, attempt: ladderAttemptsAtMs.length, ladderAttemptsAtMs, nowMs })
}

describe('the retry ladder', () => {
  test.each([
    { name: 'the first attempt', next: after(), topic: 'deliveries.retry.5s', afterS: 5 },
    { name: 'the second', next: after(5), topic: 'deliveries.retry.1m', afterS: 65 },
    { name: 'the third', next: after(5, 65), topic: 'deliveries.retry.10m', afterS: 665 },
    { name: 'the fourth', next: after(5, 65, 665), topic: 'deliveries.retry.1h', afterS: 4_265 },
    { name: 'the fifth', next: after(5, 65, 665, 4_265), topic: 'deliveries.retry.6h', afterS: 25_865 },
    { name: 'the sixth', next: after(5, 65, 665, 4_265, 25_865), topic: 'deliveries.retry.6h', afterS: 47_465 },
    { name: 'a second that was held for hours', next: after(7_200), topic: 'deliveries.retry.1m', afterS: 7_260 },
  ])('after $name the next one comes by $topic', ({ next, topic, afterS }) => {
    expect(next).toMatchObject({ kind: 'retry', dueAtMs: T0 + afterS * 1_000, topic, reason: 'ladder' })
  })

  test('is not climbed by attempts that were brought forward, also not long after the first one', () => {
    expect(after(5, 65, 80, 90)).toMatchObject({ attempt: 6, topic: 'deliveries.retry.10m' })
    expect(after(7_200, 7_240, 7_290, 7_340)).toMatchObject({ attempt: 6, topic: 'deliveries.retry.1m' })
  })

  test('ends 72 hours after the first attempt', () => {
    const endsS = (66 * HOUR) / 1_000
    expect(after(5, 65, 665, 4_265, endsS).kind).toBe('retry')
    expect(after(5, 65, 665, 4_265, endsS + 0.001)).toEqual({ kind: 'no_retry', reason: 'retry_window_over' })
  })

  test('makes 16 attempts of a receiver that never answers', () => {
    const ladderAttemptsAtMs = [T0]
    for (;;) {
      const [nowMs = T0, attempt] = [ladderAttemptsAtMs.at(-1), ladderAttemptsAtMs.length]
      const next = decideNextAttempt({ ...failed, attempt, ladderAttemptsAtMs, nowMs })
      if (next.kind === 'no_retry') break
      ladderAttemptsAtMs.push(next.dueAtMs)
    }
    expect(ladderAttemptsAtMs).toHaveLength(16)
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
  const anew = { ...failed, attempt: 17, firstAttemptAtMs: failed.nowMs - 10 }
  expect(decideNextAttempt(anew)).toMatchObject({ attempt: 18, topic: 'deliveries.retry.5s' })
  const late = { ...anew, firstAttemptAtMs: failed.nowMs - 72 * HOUR }
  expect(decideNextAttempt(late)).toEqual({ kind: 'no_retry', reason: 'retry_window_over' })
})
