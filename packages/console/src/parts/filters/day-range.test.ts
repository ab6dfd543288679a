import { expect, test } from 'vitest'
import { nameRange, rangeBefore, rangeOptions, rangeValue } from './day-range.ts'

const NOW = Date.parse('2026-02-10T23:30:00Z')

test('offers yesterday, days until now, quarters and months, also across the turn of a year', () => {
  const options = new Map(rangeOptions(NOW, 'en').map(({ label, value }) => [label, value]))
  expect(options.get('Yesterday')).toBe('2026-02-09/2026-02-10')
  expect(options.get('Last 7 days')).toBe('2026-02-04/2026-02-11')
  expect(options.get('Q1 2026')).toBe('2026-01-01/2026-04-01')
  expect(options.get('Q4 2025')).toBe('2025-10-01/2026-01-01')
  expect(options.get('December 2025')).toBe('2025-12-01/2026-01-01')
})

test('the last 30 days of a month of 30 days are the month, offered once under both names', () => {
  const options = rangeOptions(Date.parse('2026-11-30T12:00:00Z'), 'en')
  expect(options.filter(({ value }) => value === '2026-11-01/2026-12-01')).toEqual([
    { value: '2026-11-01/2026-12-01', label: 'November 2026 (last 30 days)' },
  ])
})

test('offers no period twice, on any day of a year', () => {
  for (let day = 0; day < 366; day++) {
    const values = rangeOptions(NOW + day * 86_400_000, 'en').map(({ value }) => value)
    expect(new Set(values).size).toBe(values.length)
  }
})

test.each([
  { from: '2025-07-01', to: '2025-10-01', name: 'Q3 2025' },
  { from: '2025-11-01', to: '2025-12-01', name: 'November 2025' },
  { from: '2025-11-03', to: '2025-11-04', name: 'Nov 3, 2025' },
  { from: '2025-11-03', to: '2025-12-01', name: 'Nov 3, 2025 to Nov 30, 2025' },
])('names the range from $from to $to', ({ name, ...range }) => {
  expect(nameRange(range, 'en')).toBe(name)
})

test.each([
  { range: '2026-01-01/2026-02-01', before: '2025-12-01/2026-01-01' },
  { range: '2026-01-01/2026-04-01', before: '2025-10-01/2026-01-01' },
  { range: '2026-02-01/2026-05-01', before: '2025-11-04/2026-02-01' },
  { range: '2026-03-01/2026-03-08', before: '2026-02-22/2026-03-01' },
])('the period before $range is $before', ({ range, before }) => {
  const [from = '', to = ''] = range.split('/')
  expect(rangeValue(rangeBefore({ from, to }))).toBe(before)
})
