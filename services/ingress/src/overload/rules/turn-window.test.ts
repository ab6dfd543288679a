import { describe, expect, test } from 'vitest'
import { judgeRequest, nextWindowMs, widestWindowMs } from './turn-window.ts'

const LONGEST_WAIT_MS = 100

test.each([
  { name: 'the first of its turn', sinceMs: 0, windowMs: 2, expected: { kind: 'bearable' } },
  { name: 'at the end of the window', sinceMs: 50, windowMs: 50, expected: { kind: 'bearable' } },
  {
    name: 'after the window',
    sinceMs: 50.1,
    windowMs: 50,
    expected: { kind: 'overloaded', reason: 'event_loop_lag' },
  },
])('judges a request: $name', ({ sinceMs, windowMs, expected }) => {
  expect(judgeRequest(sinceMs, windowMs)).toEqual(expected)
})

const SHORT = { tookMs: 60, refusingMs: 0 }
const LONG = { tookMs: 61, refusingMs: 0 }

test.each([
  { name: 'short', turn: SHORT, before: LONG, expected: 250 },
  { name: 'long, the first one', turn: LONG, before: SHORT, expected: 250 },
  { name: 'long, the second one', turn: LONG, before: LONG, expected: 20 },
  { name: 'with few refusals', turn: { tookMs: 30, refusingMs: 5 }, before: SHORT, expected: 15 },
  { name: 'with many refusals', turn: { tookMs: 30, refusingMs: 16 }, before: SHORT, expected: 4 },
  { name: 'with refusals that take too long', turn: { tookMs: 400, refusingMs: 390 }, before: SHORT, expected: 3 },
])('the turn was $name, and the next one accepts requests for $expected ms', ({ turn, before, expected }) => {
  expect(nextWindowMs(turn, before, LONGEST_WAIT_MS)).toBe(expected)
})

describe('in a simulation of an event loop', () => {
  const ACCEPT_MS = 0.07
  const REFUSE_MS = 0.02

  /** The clients' sockets: more requests cannot wait at once. */
  const SOCKETS = 1_000

  /** Runs turns at a rate of requests. @returns the length of each turn and the number of accepted requests a millisecond */
  function simulate(perMs: number, turns: number) {
    let windowMs = widestWindowMs(LONGEST_WAIT_MS)
    let waiting = perMs
    let before = { tookMs: 0, refusingMs: 0 }
    return Array.from({ length: turns }, () => {
      const accepted = Math.min(waiting, Math.floor(windowMs / ACCEPT_MS) + 1)
      const refusingMs = (waiting - accepted) * REFUSE_MS
      const tookMs = Math.max(1, accepted * ACCEPT_MS + refusingMs)
      windowMs = nextWindowMs({ tookMs, refusingMs }, before, LONGEST_WAIT_MS)
      before = { tookMs, refusingMs }
      waiting = Math.min(SOCKETS, Math.round(perMs * tookMs))
      return { tookMs, acceptedPerMs: accepted / tookMs }
    })
  }

  test.each([1.2, 1.5, 2, 3])('%d times the capacity: turns stay short, and each accepts requests', times => {
    const turns = simulate(times / ACCEPT_MS, 400)
    expect(Math.max(...turns.map(({ tookMs }) => tookMs))).toBeLessThan(75)
    const later = turns.slice(50)
    // A slight overload ends and begins again, because its turns have few refusals.
    if (times >= 1.5) expect(Math.max(...later.map(({ tookMs }) => tookMs))).toBeLessThan(40)
    // The refusals leave this share of the time.
    const possiblePerMs = (1 - (times / ACCEPT_MS) * REFUSE_MS) / (ACCEPT_MS - REFUSE_MS)
    expect(Math.min(...later.map(({ acceptedPerMs }) => acceptedPerMs))).toBeGreaterThan(possiblePerMs * 0.35)
    const mean = later.reduce((sum, { tookMs, acceptedPerMs }) => sum + acceptedPerMs * tookMs, 0)
    expect(mean / later.reduce((sum, { tookMs }) => sum + tookMs, 0)).toBeGreaterThan(possiblePerMs * 0.9)
  })

  test('below the capacity no request is refused', () => {
    const rate = 0.9 / ACCEPT_MS
    const turns = simulate(rate, 400).slice(50)
    expect(Math.min(...turns.map(({ acceptedPerMs }) => acceptedPerMs))).toBeGreaterThan(rate * 0.95)
  })
})
