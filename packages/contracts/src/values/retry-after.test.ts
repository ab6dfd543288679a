import { expect, test } from 'vitest'
import { parseRetryAfter } from './retry-after.ts'

const NOW = Date.parse('2026-11-21T10:00:00.000Z')

test.each([
  { name: 'seconds', header: '120', waitMs: 120_000 },
  { name: 'no wait at all', header: '0', waitMs: 0 },
  { name: 'spaces around seconds', header: ' 7 ', waitMs: 7_000 },
  { name: 'a date to come', header: 'Sat, 21 Nov 2026 10:01:30 GMT', waitMs: 90_000 },
  { name: 'a date that has passed', header: 'Sat, 21 Nov 2026 09:00:00 GMT', waitMs: 0 },
  { name: 'no header', header: null, waitMs: null },
  { name: 'an empty header', header: '', waitMs: null },
  { name: 'a negative number', header: '-5', waitMs: null },
  { name: 'a fraction', header: '1.5', waitMs: null },
  { name: 'words that a lenient parser takes for a date', header: 'May 5', waitMs: null },
  { name: 'a date that does not exist', header: 'Sat, 41 Nov 2026 10:01:30 GMT', waitMs: null },
  { name: 'a number beyond reason', header: '99999999999999999999', waitMs: null },
])('Retry-After with $name', ({ header, waitMs }) => {
  expect(parseRetryAfter(header, NOW)).toBe(waitMs)
})
