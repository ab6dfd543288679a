import { describe, expect, test } from 'vitest'
import { alert, testAlert } from '../../test/fixtures.ts'
import { describeAlert, formatMoney, orderingKey } from './describe-alert.ts'

describe('money is written for people', () => {
  test.each([
    { minor: 2499, currency: 'eur', text: 'EUR 24.99' },
    { minor: 500, currency: 'jpy', text: 'JPY 500' },
    { minor: 1234, currency: 'kwd', text: 'KWD 1.234' },
    { minor: 0, currency: 'usd', text: 'USD 0.00' },
    { minor: 123_456_789, currency: 'usd', text: 'USD 1,234,567.89' },
    { minor: null, currency: 'usd', text: null },
    { minor: 5, currency: null, text: null },
  ])('$minor $currency is $text', ({ minor, currency, text }) => expect(formatMoney(minor, currency)).toBe(text))
})

test('an incident is described with what a person needs to act', () => {
  const described = describeAlert(alert())
  expect(described).toMatchObject({
    title: 'Unexplained refund of EUR 24.99',
    tone: 'alarm',
    path: '/incidents/inc_alr_1',
  })
  expect(described.facts.map(fact => fact.label)).toEqual([
    'What',
    'Provider',
    'Payment',
    'Id at the provider',
    'Connection',
    'Made at',
    'Opened at',
    'Incident',
  ])
})

test('messages about one incident share their key; a test stands for itself', () => {
  expect(orderingKey(alert({ id: 'a', incident: { incident_id: 'inc_9' } }))).toBe('inc_9')
  expect(orderingKey(testAlert('chn_1', 'alr_9'))).toBe('alr_9')
})
