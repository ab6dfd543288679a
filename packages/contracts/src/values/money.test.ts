import { describe, expect, test } from 'vitest'
import { decimalAmount, decimalsOf, formatMoney, parseMoney } from './money.ts'

describe('money is written for people', () => {
  test.each([
    { minor: 2499, currency: 'eur', text: 'EUR 24.99' },
    { minor: 500, currency: 'jpy', text: 'JPY 500' },
    { minor: 1_000_000, currency: 'huf', text: 'HUF 10,000.00' },
    { minor: 1_000_000, currency: 'ugx', text: 'UGX 10,000.00' },
    { minor: 200_000, currency: 'isk', text: 'ISK 2,000.00' },
    { minor: 1234, currency: 'kwd', text: 'KWD 1.234' },
    { minor: 0, currency: 'usd', text: 'USD 0.00' },
    { minor: -5, currency: 'usd', text: 'USD -0.05' },
    { minor: -123_456, currency: 'jpy', text: 'JPY -123,456' },
    { minor: 123_456_789, currency: 'usd', text: 'USD 1,234,567.89' },
    { minor: null, currency: 'usd', text: null },
    { minor: 5, currency: null, text: null },
  ])('$minor $currency is $text', ({ minor, currency, text }) => expect(formatMoney(minor, currency)).toBe(text))

  test('writes each digit of the largest amount', () => {
    expect(formatMoney(Number.MAX_SAFE_INTEGER, 'eur')).toBe('EUR 90,071,992,547,409.91')
    expect(decimalAmount(-Number.MAX_SAFE_INTEGER, 'kwd')).toBe('-9007199254740.991')
  })
})

describe('an amount that a person typed', () => {
  test.each([
    ['12.5', 'eur', 1_250],
    ['1,204.00', 'eur', 120_400],
    ['1 204', 'EUR', 120_400],
    ['500', 'jpy', 500],
    ['2000', 'isk', 200_000],
    ['2000', 'lyd', 200_000],
    ['1.25', 'kwd', 1_250],
    ['1.5', 'jpy', undefined],
    ['1.255', 'eur', undefined],
    ['1,25', 'eur', undefined],
    ['1,2500', 'eur', undefined],
    ['twelve', 'eur', undefined],
    ['-3', 'eur', undefined],
    ['', 'eur', undefined],
    ['99999999999999999', 'eur', undefined],
  ])('%s %s is read as %s minor units', (text, currency, amount) => expect(parseMoney(text, currency)).toBe(amount))

  test('is read as it was written, in each currency that this platform knows', () => {
    for (const currency of Intl.supportedValuesOf('currency').map(code => code.toLowerCase())) {
      const text = formatMoney(1_234_567, currency)
      expect([text, parseMoney(text.slice(4), currency)]).toEqual([text, 1_234_567])
    }
  })
})

test('the currencies of the reseller have the digits of ISO 4217', () => {
  const whole = 'clp jpy krw vnd'.split(' ')
  const cents =
    'ars aud brl cad chf cny cop czk dkk eur gbp hkd huf ils inr mxn nok nzd pen pln rub sek sgd thb try twd uah usd zar'
  expect(whole.map(decimalsOf)).toEqual(whole.map(() => 0))
  expect(cents.split(' ').map(decimalsOf)).toEqual(cents.split(' ').map(() => 2))
})
