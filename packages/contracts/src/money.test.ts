import { describe, expect, test } from 'vitest'
import { formatMoney } from './money.ts'

describe('money is written for people', () => {
  test.each([
    { minor: 2499, currency: 'eur', text: 'EUR 24.99' },
    { minor: 500, currency: 'jpy', text: 'JPY 500' },
    { minor: 1_000_000, currency: 'huf', text: 'HUF 10,000.00' },
    { minor: 1_000_000, currency: 'ugx', text: 'UGX 10,000.00' },
    { minor: 1234, currency: 'kwd', text: 'KWD 1.234' },
    { minor: 0, currency: 'usd', text: 'USD 0.00' },
    { minor: 123_456_789, currency: 'usd', text: 'USD 1,234,567.89' },
    { minor: null, currency: 'usd', text: null },
    { minor: 5, currency: null, text: null },
  ])('$minor $currency is $text', ({ minor, currency, text }) => expect(formatMoney(minor, currency)).toBe(text))
})
