import { describe, expect, test } from 'vitest'
import {
  type Breaker,
  CLOSED_BREAKER,
  countFirstAttempt,
  type PaceSignal,
  sendPermissionOf,
  updateBreaker,
} from './breaker.ts'

const NOW = 1_000_000
const failed = (atMs = NOW, tookMs = 10): PaceSignal => ({ kind: 'failed', atMs, tookMs })
const worked: PaceSignal = { kind: 'worked', atMs: NOW }
const throttled = (retryAfterMs: number | null, atMs = NOW): PaceSignal => ({ kind: 'throttled', atMs, retryAfterMs })
const after = (...signs: PaceSignal[]): Breaker => signs.reduce(updateBreaker, CLOSED_BREAKER)
const times = (count: number, paceSignal: PaceSignal) => Array<PaceSignal>(count).fill(paceSignal)

/** A breaker after this number of failures, each at the end of the pause before it, and the length of its pause. */
function afterProbes(count: number, tookMs = 10) {
  let breaker = CLOSED_BREAKER
  let nowMs = NOW
  for (let index = 0; index < count; index++) {
    nowMs = Math.max(nowMs, breaker.heldUntilMs)
    breaker = updateBreaker(breaker, failed(nowMs, tookMs))
  }
  return { breaker, pauseMs: breaker.heldUntilMs - nowMs, nowMs }
}

describe('a channel', () => {
  test.each([
    { name: 'that was never used', signs: [], kind: 'free', reason: 'works' },
    { name: 'that failed once', signs: [failed()], kind: 'one_at_a_time', reason: 'failed_last' },
    { name: 'that failed four times', signs: times(4, failed()), kind: 'one_at_a_time', reason: 'failed_last' },
    { name: 'that failed five times in a row', signs: times(5, failed()), kind: 'paused', reason: 'breaker_open' },
    {
      name: 'that worked in between',
      signs: [...times(4, failed()), worked, failed()],
      kind: 'one_at_a_time',
      reason: 'failed_last',
    },
    { name: 'that works again', signs: [...times(9, failed()), worked], kind: 'free', reason: 'works' },
    { name: 'that gets more than it takes', signs: [throttled(null)], kind: 'paused', reason: 'throttled' },
    { name: 'that asked for nothing but now', signs: [throttled(0)], kind: 'one_at_a_time', reason: 'failed_last' },
  ])('$name is $kind: $reason', ({ signs, kind, reason }) => {
    expect(sendPermissionOf(after(...signs), NOW)).toMatchObject({ kind, reason })
  })

  test.each([
    { name: 'five failures', signs: times(5, failed()), pauseMs: 5_000 },
    { name: 'eight failures at once', signs: times(8, failed()), pauseMs: 5_000 },
    { name: 'one 429', signs: [throttled(null)], pauseMs: 1_000 },
    { name: 'three 429 at once', signs: times(3, throttled(null)), pauseMs: 1_000 },
    {
      name: 'a third 429, after the pauses of one and two seconds,',
      signs: [throttled(null, NOW - 3_000), throttled(null, NOW - 2_000), throttled(null)],
      pauseMs: 4_000,
    },
    { name: 'four 429 that each ask for a second', signs: times(4, throttled(1_000)), pauseMs: 1_000 },
    { name: 'five', signs: times(5, throttled(1_000)), pauseMs: 5_000 },
    { name: 'nine that ask for none', signs: times(9, throttled(0)), pauseMs: 60_000 },
    { name: 'a 429 that asks for half a minute', signs: [throttled(30_000)], pauseMs: 30_000 },
    { name: 'a 429 that asks for a day', signs: [throttled(86_400_000)], pauseMs: 3_600_000 },
  ])('is paused after $name for $pauseMs ms, then tried with one attempt', ({ signs, pauseMs }) => {
    const breaker = after(...signs)
    expect(sendPermissionOf(breaker, NOW + pauseMs - 1).kind).toBe('paused')
    expect(sendPermissionOf(breaker, NOW + pauseMs).kind).toBe('one_at_a_time')
  })

  test.each([
    [5, 5_000],
    [6, 10_000],
    [7, 20_000],
    [8, 40_000],
    [9, 60_000],
    [20, 60_000],
  ])('that fails %i times, each time after the pause before, is paused for %i ms', (failures, pauseMs) => {
    expect(afterProbes(failures).pauseMs).toBe(pauseMs)
  })

  test('is half open after its pause, and paused for longer when the one attempt fails', () => {
    const breaker = after(...times(5, failed()))
    expect(sendPermissionOf(breaker, NOW + 5_000)).toEqual({ kind: 'one_at_a_time', reason: 'half_open' })
    expect(sendPermissionOf(updateBreaker(breaker, failed(NOW + 5_100)), NOW + 15_000)).toMatchObject({
      kind: 'paused',
      untilMs: NOW + 15_100,
    })
  })

  test('keeps to the longest pause that it was asked for, whatever ends after', () => {
    expect(after(throttled(30_000), failed(), throttled(1_000)).heldUntilMs).toBe(NOW + 30_000)
  })
})

describe('a pause', () => {
  const firstsLeft = (breaker: Breaker, nowMs = NOW) => {
    const permission = sendPermissionOf(breaker, nowMs)
    return permission.kind === 'paused' ? permission.firstAttemptsLeft : undefined
  }

  test('of a receiver that fails quickly lets ten first attempts through', () => {
    let breaker = after(...times(5, failed()))
    expect(firstsLeft(breaker)).toBe(10)
    for (let left = 9; left >= 0; left--) {
      breaker = countFirstAttempt(breaker)
      expect(firstsLeft(breaker)).toBe(left)
    }
    expect(firstsLeft(countFirstAttempt(breaker))).toBe(0)
  })

  test('is not extended by first attempts that fail during it, and lets no further ones through', () => {
    const paused = countFirstAttempt(after(...times(5, failed())))
    const before = sendPermissionOf(paused, NOW)
    expect(sendPermissionOf(updateBreaker(paused, failed(NOW + 100)), NOW)).toEqual(before)
    expect(firstsLeft(paused)).toBe(9)
  })

  test('that follows a failed probe lets ten first attempts through again', () => {
    const { breaker, nowMs } = afterProbes(6)
    expect(firstsLeft(breaker, nowMs)).toBe(10)
  })

  test('of a receiver that hangs lets no first attempt through', () => {
    const { breaker, nowMs } = afterProbes(5, 20_000)
    expect(firstsLeft(breaker, nowMs)).toBe(0)
    const quick = after(...times(5, failed()))
    expect(firstsLeft(updateBreaker(quick, failed(NOW + 2_000, 2_000)))).toBe(0)
  })

  test('that the receiver asked for lets no first attempt through', () => {
    expect(firstsLeft(after(throttled(30_000)))).toBe(0)
    expect(firstsLeft(after(...times(5, failed()), throttled(1_000)))).toBe(0)
  })
})
