import { expect, test } from 'vitest'
import { makeWeek } from './accounts.ts'
import { GOODWILL, STORM_SIZE } from './changes.ts'

const WEEK = { seed: 7, madeAtMs: Date.parse('2026-11-23T12:00:00.000Z') }

test('the same seed and time make the same week, so that a later start serves the same accounts', () => {
  const [first, second] = [makeWeek(WEEK), makeWeek(WEEK)]
  expect(second.changes).toEqual(first.changes)
  const transactions = (week: typeof first) =>
    week.accounts.memberships
      .asOf(WEEK.madeAtMs)
      .transactions.all()
      .map(({ id }) => id)
  expect(transactions(second)).toEqual(transactions(first))
})

test('the week has changes of each day and account, and all of them are in the past', () => {
  const { changes } = makeWeek(WEEK)
  expect(new Set(changes.map(({ at }) => at.slice(0, 10))).size).toBeGreaterThanOrEqual(7)
  expect(new Set(changes.map(({ account }) => account)).size).toBe(5)
  expect(changes.filter(({ at }) => Date.parse(at) > WEEK.madeAtMs)).toEqual([])
})

test('only the storm has so many unexplained changes in one account that people get one message about them', () => {
  const { changes } = makeWeek(WEEK)
  const unreported = changes.filter(
    ({ isReported, account, amount }) => !isReported && account !== 'japan' && amount !== GOODWILL.amount,
  )
  const counts = Object.groupBy(unreported, ({ account }) => account)
  expect(counts.marketplace).toHaveLength(STORM_SIZE)
  for (const account of ['shop', 'app_store', 'memberships'] as const) {
    expect(counts[account]?.length).toBeGreaterThan(0)
    expect(counts[account]?.length).toBeLessThan(10)
  }
})
