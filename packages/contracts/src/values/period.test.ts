import { describe, expect, test } from 'vitest'
import { type LimitInterval, periodOf } from './period.ts'

describe('the period of a limit', () => {
  const rows: { name: string; interval: LimitInterval; at: string; from: string; to: string }[] = [
    {
      name: 'a day begins at midnight',
      interval: 'day',
      at: '2026-11-21T00:00:00.000Z',
      from: '2026-11-21',
      to: '2026-11-22',
    },
    {
      name: 'a day ends before midnight',
      interval: 'day',
      at: '2026-11-21T23:59:59.999Z',
      from: '2026-11-21',
      to: '2026-11-22',
    },
    {
      name: 'the last day of a year',
      interval: 'day',
      at: '2026-12-31T12:00:00.000Z',
      from: '2026-12-31',
      to: '2027-01-01',
    },
    {
      name: 'a week begins on Monday',
      interval: 'week',
      at: '2026-11-16T00:00:00.000Z',
      from: '2026-11-16',
      to: '2026-11-23',
    },
    {
      name: 'Sunday is the last day of a week',
      interval: 'week',
      at: '2026-11-22T23:59:59.999Z',
      from: '2026-11-16',
      to: '2026-11-23',
    },
    {
      name: 'a week across two years',
      interval: 'week',
      at: '2027-01-01T08:00:00.000Z',
      from: '2026-12-28',
      to: '2027-01-04',
    },
    {
      name: 'a month begins on its first day',
      interval: 'month',
      at: '2026-11-01T00:00:00.000Z',
      from: '2026-11-01',
      to: '2026-12-01',
    },
    { name: 'a short month', interval: 'month', at: '2027-02-28T23:59:59.999Z', from: '2027-02-01', to: '2027-03-01' },
    {
      name: 'February of a leap year',
      interval: 'month',
      at: '2028-02-29T10:00:00.000Z',
      from: '2028-02-01',
      to: '2028-03-01',
    },
    {
      name: 'the last month of a year',
      interval: 'month',
      at: '2026-12-31T23:59:59.999Z',
      from: '2026-12-01',
      to: '2027-01-01',
    },
  ]
  test.each(rows)('$name', ({ interval, at, from, to }) => {
    expect(periodOf(interval, Date.parse(at))).toEqual({
      firstDay: from,
      startsAt: Date.parse(`${from}T00:00:00Z`),
      endsAt: Date.parse(`${to}T00:00:00Z`),
    })
  })
})
