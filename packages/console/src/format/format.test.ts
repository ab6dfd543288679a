import { describe, expect, test } from 'vitest'
import { shortenId, shortenIds } from './ids.ts'
import { formatMoney } from './money.ts'
import { formatDuration, formatTime, localizeTimes } from './times.ts'

test('money does not break between its currency and its number, and has the digits of the providers', () => {
  expect(formatMoney(200_000, 'isk')).toBe('ISK\u00a02,000.00')
})

describe('times', () => {
  const NOW = Date.parse('2026-11-23T12:00:00Z')
  const MINUTE = 60_000

  test.each([
    ['just now', -20_000],
    ['just now', 59_000],
    ['in 1 min', MINUTE],
    ['5 min ago', -5 * MINUTE],
    ['3 h ago', -3.5 * 60 * MINUTE],
    ['in 10 min', 10 * MINUTE],
  ])('shows a time within a day as %s', (text, differenceMs) => {
    expect(formatTime(NOW + differenceMs, NOW, 'en')).toBe(text)
  })

  test('shows the date, and the year only if it is another one', () => {
    expect(formatTime(Date.parse('2026-11-20T12:00:00Z'), NOW, 'en')).toMatch(/^Nov 20, /)
    expect(formatTime(Date.parse('2025-11-20T12:00:00Z'), NOW, 'en')).toBe('Nov 20, 2025')
  })

  test('shows a duration in its largest unit', () => {
    expect([40_000, 12 * MINUTE, 200 * MINUTE, 5 * 24 * 60 * MINUTE].map(formatDuration)).toEqual([
      '40 s',
      '12 min',
      '3 h',
      '5 d',
    ])
  })
})

test('a sentence of the API has its times in the zone of the reader', () => {
  const inZone = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' })
  expect(localizeTimes('Held until 2026-11-23T20:20:48.640Z. Wait', null, 'en')).toBe(
    `Held until ${inZone.format(Date.parse('2026-11-23T20:20:48.640Z'))}. Wait`,
  )
})

test('a sentence with times in UTC has them in the zone of the reader', () => {
  const day = { day: 'numeric', month: 'short' } as const
  const clock = { hour: '2-digit', minute: '2-digit' } as const
  const inZone = (at: string, options: object) => new Intl.DateTimeFormat('en', options).format(Date.parse(at))
  const localized = (sentence: string) => localizeTimes(sentence, '2026-11-26T22:41:00.000Z', 'en')
  expect(localized('the request at 2026-11-27 02:49:33 UTC. It')).toBe(
    `the request at ${inZone('2026-11-27T02:49:33Z', { ...day, ...clock, second: '2-digit' })}. It`,
  )
  expect(localized('payment on 2026-11-26 at 23:40 UTC; this')).toBe(
    `payment on ${inZone('2026-11-26T23:40:00Z', { ...day, ...clock })}; this`,
  )
  expect(localized('payment at 22:40 UTC; this')).toBe(`payment at ${inZone('2026-11-26T22:40:00Z', clock)}; this`)
})

test('a time without a date stays in UTC if nothing says its date', () => {
  expect(localizeTimes('at 09:58 UTC')).toBe('at 09:58 UTC')
})

describe('ids', () => {
  test('shortens a long id in the middle and keeps a short one', () => {
    expect(shortenId('inc_01J9ABCDEFGHJKMNPQRSTVWXYZ')).toBe('inc_01J9ABC…WXYZ')
    expect(shortenId('re_1')).toBe('re_1')
  })

  test('shortens only the ids of a sentence', () => {
    const sentence = 'A refund of USD 99.00 on pi_3CCRNxOFviPD5s853UXO65q5 was made at the-provider-of-all-refunds'
    expect(shortenIds(sentence)).toBe('A refund of USD 99.00 on pi_3CCRN…65q5 was made at the-provider-of-all-refunds')
  })
})
