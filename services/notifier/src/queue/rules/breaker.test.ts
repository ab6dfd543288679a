import { describe, expect, test } from 'vitest'
import { type Breaker, CLOSED_BREAKER, type PaceSignal, sendPermissionOf, updateBreaker } from './breaker.ts'

const NOW = 1_000_000
const failed = (atMs = NOW): PaceSignal => ({ kind: 'failed', atMs })
const worked: PaceSignal = { kind: 'worked', atMs: NOW }
const throttled = (retryAfterMs: number | null, atMs = NOW): PaceSignal => ({ kind: 'throttled', atMs, retryAfterMs })
const after = (...signs: PaceSignal[]): Breaker => signs.reduce(updateBreaker, CLOSED_BREAKER)
const times = (count: number, paceSignal: PaceSignal) => Array<PaceSignal>(count).fill(paceSignal)

describe('a channel', () => {
  test.each([
    { name: 'that was never used', signs: [], kind: 'free', reason: 'works' },
    { name: 'that failed once', signs: [failed()], kind: 'one_at_a_time', reason: 'failed_last' },
    { name: 'that failed four times', signs: times(4, failed()), kind: 'one_at_a_time', reason: 'failed_last' },
    { name: 'that failed five times in a row', signs: times(5, failed()), kind: 'held', reason: 'breaker_open' },
    {
      name: 'that worked in between',
      signs: [...times(4, failed()), worked, failed()],
      kind: 'one_at_a_time',
      reason: 'failed_last',
    },
    { name: 'that works again', signs: [...times(9, failed()), worked], kind: 'free', reason: 'works' },
    { name: 'that gets more than it takes', signs: [throttled(null)], kind: 'held', reason: 'throttled' },
    { name: 'that asked for nothing but now', signs: [throttled(0)], kind: 'one_at_a_time', reason: 'failed_last' },
  ])('$name is $kind: $reason', ({ signs, kind, reason }) => {
    expect(sendPermissionOf(after(...signs), NOW)).toMatchObject({ kind, reason })
  })

  test.each([
    { name: 'five failures', signs: times(5, failed()), pauseMs: 5_000 },
    { name: 'six', signs: times(6, failed()), pauseMs: 10_000 },
    { name: 'twenty', signs: times(20, failed()), pauseMs: 60_000 },
    { name: 'one 429', signs: [throttled(null)], pauseMs: 1_000 },
    { name: 'three 429', signs: times(3, throttled(null)), pauseMs: 4_000 },
    { name: 'four 429 that each ask for a second', signs: times(4, throttled(1_000)), pauseMs: 1_000 },
    { name: 'five', signs: times(5, throttled(1_000)), pauseMs: 5_000 },
    { name: 'nine that ask for none', signs: times(9, throttled(0)), pauseMs: 60_000 },
    { name: 'a 429 that asks for half a minute', signs: [throttled(30_000)], pauseMs: 30_000 },
    { name: 'a 429 that asks for a day', signs: [throttled(86_400_000)], pauseMs: 3_600_000 },
  ])('is left alone after $name for $pauseMs ms, then tried with one attempt', ({ signs, pauseMs }) => {
    const breaker = after(...signs)
    expect(sendPermissionOf(breaker, NOW + pauseMs - 1).kind).toBe('held')
    expect(sendPermissionOf(breaker, NOW + pauseMs).kind).toBe('one_at_a_time')
  })

  test('is half open after its pause, and paused for longer when the one attempt fails', () => {
    const breaker = after(...times(5, failed()))
    expect(sendPermissionOf(breaker, NOW + 5_000)).toEqual({ kind: 'one_at_a_time', reason: 'half_open' })
    expect(sendPermissionOf(updateBreaker(breaker, failed(NOW + 5_100)), NOW + 15_000)).toMatchObject({
      kind: 'held',
      untilMs: NOW + 15_100,
    })
  })

  test('keeps to the longest pause that it was asked for, whatever ends after', () => {
    expect(after(throttled(30_000), failed(), throttled(1_000)).heldUntilMs).toBe(NOW + 30_000)
  })
})
