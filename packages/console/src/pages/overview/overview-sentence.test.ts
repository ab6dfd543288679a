import { describe, expect, test } from 'vitest'
import type { Stats } from '../../api/actions.ts'
import type { Unresolved } from './attention.ts'
import { isNothingSeen, overviewSentence } from './overview-sentence.ts'

const NOW_MS = Date.parse('2026-11-23T14:00:00Z')
const QUIET: Unresolved = {
  ...{ open: 0, acknowledged: 0, since: null, money: [], being_checked: 0, approvals_pending: 0 },
}

type Total = Stats['totals'][number]
function statsOf(...totals: Partial<Total>[]): Stats {
  const base = { verdict: 'explained', kind: 'refund', currency: 'eur', mode: 'live' } as const
  const none = { count: 0, not_carried_out: 0, amount: 0 }
  return { totals: totals.map(total => ({ ...base, ...none, ...total })), series: [] } as unknown as Stats
}

describe('the first sentence of the overview', () => {
  test('counts refunds and cancellations when nothing is open', () => {
    const stats = statsOf({ count: 3 }, { kind: 'cancellation', count: 1 }, { kind: 'dispute', count: 9 })
    expect(overviewSentence(QUIET, stats, 7, NOW_MS)).toBe(
      'Quiet: 3 refunds and 1 cancellation in 7 days, all explained',
    )
  })

  test('leaves out refunds that failed, and counts test mode apart', () => {
    const failed = { count: 2, not_carried_out: 2 }
    const isTest = { mode: 'test', count: 5 } as const
    const sentence = (...totals: Partial<Total>[]) => overviewSentence(QUIET, statsOf(...totals), 7, NOW_MS)
    expect(sentence({ count: 3 }, failed)).toBe('Quiet: 3 refunds in 7 days, all explained')
    expect(sentence({ count: 3 }, isTest)).toBe('Quiet: 3 refunds in 7 days, all explained; 5 more in test mode')
    expect(sentence(isTest)).toBe('Quiet: 5 test refunds in 7 days, all explained')
    const money = [
      { amount: 41_200, currency: 'eur', mode: 'live' as const, count: 2 },
      { amount: 900, currency: 'eur', mode: 'test' as const, count: 1 },
    ]
    expect(overviewSentence({ ...QUIET, open: 3, money }, statsOf(), 7, NOW_MS)).toBe(
      '3 open: EUR\u00a0412.00, EUR\u00a09.00 (test) unexplained',
    )
  })

  test('says how much is open and since when', () => {
    const unresolved: Unresolved = {
      ...QUIET,
      open: 3,
      money: [{ amount: 41_200, currency: 'eur', mode: null, count: 3 }],
      since: '2026-11-21T10:00:00Z',
    }
    expect(overviewSentence(unresolved, statsOf(), 7, NOW_MS)).toMatch(/^3 open: EUR\u00a0412\.00 unexplained since /)
  })

  test('adds live money to money of the same currency from providers without modes', () => {
    const money = [
      { amount: 138_600, currency: 'usd', mode: 'live' as const, count: 14 },
      { amount: 125, currency: 'eur', mode: null, count: 1 },
      { amount: 2_999, currency: 'usd', mode: null, count: 1 },
    ]
    expect(overviewSentence({ ...QUIET, open: 16, money }, statsOf(), 7, NOW_MS)).toBe(
      '16 open: USD\u00a01,415.99, EUR\u00a01.25 unexplained',
    )
  })

  test('counts acknowledged incidents, so that it is not quiet while one is left', () => {
    expect(overviewSentence({ ...QUIET, acknowledged: 1 }, statsOf(), 7, NOW_MS)).toBe('1 acknowledged')
    expect(overviewSentence({ ...QUIET, open: 1_520, acknowledged: 1 }, statsOf(), 7, NOW_MS)).toBe(
      `${(1_520).toLocaleString('en')} open, 1 acknowledged`,
    )
  })

  test('is not quiet while more actions than usual wait for their second look', () => {
    const sentence = (being_checked: number, ...totals: Partial<Total>[]) =>
      overviewSentence({ ...QUIET, being_checked }, statsOf(...totals), 7, NOW_MS)
    expect(sentence(286, { count: 290, verdict: 'pending' })).toBe(
      '286 actions are being checked, because nothing explains them yet: 290 refunds in 7 days',
    )
    // The daily counts follow within seconds.
    expect(sentence(286)).toBe('286 actions are being checked, because nothing explains them yet')
    expect(sentence(2, { count: 290 })).toBe('Quiet: 290 refunds in 7 days, 2 being checked')
    const busy = { count: 700_000 }
    expect(sentence(500, busy)).toMatch(/^Quiet: .* in 7 days, 500 being checked$/)
    expect(sentence(2_000, busy)).toMatch(/^2.000 actions are being checked, because nothing explains them yet: /)
  })

  test('says beside what is open how many more are being checked', () => {
    expect(overviewSentence({ ...QUIET, open: 1, being_checked: 3 }, statsOf(), 7, NOW_MS)).toBe('1 open')
    expect(overviewSentence({ ...QUIET, open: 1, being_checked: 286 }, statsOf(), 7, NOW_MS)).toBe(
      '1 open; 286 more actions are being checked',
    )
  })

  test('names unexplained changes whose incidents are resolved', () => {
    const stats = statsOf({ count: 2 }, { verdict: 'unexplained', count: 1 })
    expect(overviewSentence(QUIET, stats, 30, NOW_MS)).toBe(
      'Nothing is open: 3 refunds in 30 days, 1 unexplained and dealt with',
    )
  })

  test('says that nothing was seen', () => {
    expect(overviewSentence(QUIET, statsOf(), 7, NOW_MS)).toBe('Quiet: no refunds and no cancellations in 7 days')
  })
})

test('does not say that nothing was seen while the counts of the first actions follow', () => {
  const stats = { ...statsOf(), recount_pending: false }
  expect(isNothingSeen(stats, 0)).toBe(true)
  expect(isNothingSeen(stats, 7)).toBe(false)
  expect(isNothingSeen({ ...stats, recount_pending: true }, 0)).toBe(false)
  expect(isNothingSeen({ ...statsOf({ count: 1 }), recount_pending: false }, 0)).toBe(false)
})
