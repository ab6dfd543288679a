import { describe, expect, test } from 'vitest'
import type { Stats } from '../../api/stats.ts'
import { overviewSentence } from './overview-sentence.ts'
import type { Unresolved } from './unresolved.ts'

const NOW_MS = Date.parse('2026-11-23T14:00:00Z')
const NONE = { count: 0, isComplete: true }
const QUIET: Unresolved = { open: NONE, acknowledged: NONE, money: [], isMoneyComplete: true, since: null }

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
      { amount: 41_200, currency: 'eur', isTest: false },
      { amount: 900, currency: 'eur', isTest: true },
    ]
    expect(overviewSentence({ ...QUIET, open: { count: 3, isComplete: true }, money }, statsOf(), 7, NOW_MS)).toBe(
      '3 open: EUR\u00a0412.00, EUR\u00a09.00 (test) unexplained',
    )
  })

  test('says how much is open and since when', () => {
    const unresolved: Unresolved = {
      ...QUIET,
      open: { count: 3, isComplete: true },
      money: [{ amount: 41_200, currency: 'eur', isTest: false }],
      since: '2026-11-21T10:00:00Z',
    }
    expect(overviewSentence(unresolved, statsOf(), 7, NOW_MS)).toMatch(/^3 open: EUR\u00a0412\.00 unexplained since /)
  })

  test('counts acknowledged incidents, so that it is not quiet while one is left', () => {
    const acknowledged = { count: 1, isComplete: true }
    expect(overviewSentence({ ...QUIET, acknowledged }, statsOf(), 7, NOW_MS)).toBe('1 acknowledged')
    const open = { count: 2, isComplete: true }
    expect(overviewSentence({ ...QUIET, open, acknowledged }, statsOf(), 7, NOW_MS)).toBe('2 open, 1 acknowledged')
  })

  test('says “at least” when more is unresolved than was read', () => {
    const open = { count: 200, isComplete: false }
    const money = [{ amount: 41_200, currency: 'eur', isTest: false }]
    expect(overviewSentence({ ...QUIET, open, money, isMoneyComplete: false }, statsOf(), 7, NOW_MS)).toBe(
      'At least 200 open: at least EUR\u00a0412.00 unexplained',
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
