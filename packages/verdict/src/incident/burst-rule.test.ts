import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type BurstDay, dayNumberOf, halfHourOf, usualLate } from './burst-history.ts'
import { BURST_ANSWERS, countLate, decideBurst, LATE_AGES_MS, type WatchedConnection } from './burst-rule.ts'

const SECOND = 1_000
const DAY = 86_400_000
const NOW = Date.UTC(2026, 10, 21, 10, 0, 5)
const TODAY = dayNumberOf(NOW)

const KNOWN: Record<string, BurstDay> = { [TODAY - 1]: { waits: { all: 500 } } }
const shop = (changes: Partial<WatchedConnection> = {}, days = KNOWN): WatchedConnection => ({
  connection_id: 'con_1',
  out_of_band: 'auto',
  deleted: false,
  has_executed: true,
  createdAt: NOW - 30 * DAY,
  isAlarmOn: true,
  history: { days },
  ...changes,
})

/** Actions that were first seen so many seconds ago. */
const ago = (count: number, seconds: number) => Array<number>(count).fill(NOW - seconds * SECOND)
/** Days of history with this many late actions at every age. */
const days = (late: readonly number[]): Record<string, BurstDay> => ({
  ...Object.fromEntries(
    late.map((count, index) => [
      TODAY - 1 - index,
      { late: Object.fromEntries(LATE_AGES_MS.map(age => [age, count])), waits: { all: 500 } },
    ]),
  ),
})
const busy = (count: number, at = NOW): Record<string, BurstDay> => ({
  [TODAY - 2]: { waits: { all: 500 }, busiest: { [halfHourOf(at)]: count } },
})
/** Software that reports 30 seconds late. */
const slow: Record<string, BurstDay> = {
  [TODAY - 1]: { waits: { all: 500, ...Object.fromEntries(LATE_AGES_MS.map(age => [age, age < 30_000 ? 480 : 0])) } },
}

describe('the burst alarm', () => {
  test.each([
    { name: 'ten actions of software that reports first', pending: ago(10, 0), answer: 'burst' },
    { name: 'nine', pending: ago(9, 0), answer: 'few' },
    {
      name: 'of a connection without the alarm',
      pending: ago(99, 0),
      is: { isAlarmOn: false },
      answer: 'alarm_is_off',
    },
    { name: 'that is ignored', pending: ago(99, 0), is: { out_of_band: 'ignore' as const }, answer: 'not_alerted' },
    { name: 'before its first operation', pending: ago(99, 0), is: { has_executed: false }, answer: 'not_alerted' },
    { name: 'that was deleted', pending: ago(99, 0), is: { deleted: true }, answer: 'not_alerted' },
    { name: 'a batch of software that reports late', pending: ago(2_000, 25), days: slow, answer: 'usual' },
    { name: 'ten of it that are later than its reports', pending: ago(10, 31), days: slow, answer: 'burst' },
    { name: 'thrice the usual number', pending: ago(60, 0), days: days([20, 20, 0, 0, 0, 0, 0]), answer: 'burst' },
    { name: 'less than that', pending: ago(59, 0), days: days([20, 20, 0, 0, 0, 0, 0]), answer: 'usual' },
    { name: 'as many as on one day only', pending: ago(20, 0), days: days([90, 3, 0, 0, 0, 0, 0]), answer: 'burst' },
    { name: 'as many as usually explained', pending: ago(40, 3), days: busy(40), answer: 'reports_may_be_late' },
    { name: 'one more', pending: ago(41, 3), days: busy(40), answer: 'burst' },
    { name: 'as many as at another hour', pending: ago(40, 3), days: busy(40, NOW - 3_600_000), answer: 'burst' },
    { name: 'on its first day', pending: ago(99, 44), is: { createdAt: NOW - DAY + 1 }, answer: 'usual' },
    {
      name: 'that are 45 s old on its first day',
      pending: ago(10, 45),
      is: { createdAt: NOW - DAY + 1 },
      answer: 'burst',
    },
    {
      name: 'of a connection with few explained actions',
      pending: ago(99, 9),
      is: { createdAt: NOW - 9 * DAY },
      days: {},
      answer: 'usual',
    },
    {
      name: 'of an old connection whose history is empty, as after an update',
      pending: ago(99, 9),
      is: { createdAt: NOW - 400 * DAY },
      days: {},
      answer: 'usual',
    },
    {
      name: 'of a new connection without any operation',
      pending: ago(10, 0),
      is: { createdAt: NOW - SECOND, has_executed: false, out_of_band: 'alert' as const },
      days: {},
      answer: 'burst',
    },
  ])('$name: $answer', ({ pending, is, days: known, answer }) => {
    expect(decideBurst(shop(is, known), pending, pending, NOW)).toMatchObject({ answer })
  })

  test('says at which age how many are late, and how many are usual', () => {
    const pending = [...ago(30, 0), ...ago(12, 6)]
    const decision = decideBurst(shop({}, { ...days([15, 15, 15, 15, 15, 15, 15]), ...slow }), pending, pending, NOW)
    expect(decision).toEqual({ answer: 'usual' })
    const early = decideBurst(shop(), pending, pending, NOW)
    expect(early).toEqual({ answer: 'burst', why: { ageMs: 0, usual: 0, threshold: 10, late: 42 } })
    expect(countLate(pending, NOW)).toEqual([42, 12, 12, 12, 0, 0, 0, 0])
  })

  test('explained actions among the unexplained ones show that the account is busy', () => {
    const seen = [...ago(10, 3), ...ago(35, 4)]
    expect(decideBurst(shop({}, busy(40)), ago(10, 3), seen, NOW)).toMatchObject({ answer: 'burst' })
  })

  test('learns from the largest day of a short history, and from days with no late action', () => {
    const history = { days: { [TODAY - 2]: { late: { 0: 40 } } } }
    expect(usualLate(history, 0, NOW - 3 * DAY, NOW)).toBe(40)
    expect(usualLate(history, 0, NOW - 30 * DAY, NOW)).toBe(0)
  })

  test('has each of its answers in docs/storms.md', () => {
    const page = readFileSync(new URL('../../../../docs/storms.md', import.meta.url), 'utf8')
    const code = readFileSync(new URL('./burst-rule.ts', import.meta.url), 'utf8')
    const rows = (text: string) =>
      [...text.matchAll(/^(?: \* )?\| `([a-z_]+)` \| (.*) \|$/gm)].map(([, name, when]) => [name, when])
    expect(rows(page).map(([name]) => name)).toEqual([...BURST_ANSWERS])
    expect(rows(page)).toEqual(rows(code))
  })
})
