import { describe, expect, test } from 'vitest'
import { sampleAction, sampleChannelIncident } from '../../test/samples.ts'
import { CHANNEL_MODULES } from '../registry.ts'
import { describeDigest, hasDigests } from './describe-digest.ts'
import { SAMPLE_ALERTS } from './sample-alerts.ts'

const refund = (amount: number | null, currency: string | null = 'eur') => sampleAction({ amount, currency })

describe('an entry of a digest', () => {
  const payment = { number: '2014-7788', plan: null, refund_reason: null, destination: null }
  const customer = { id: 'cus_1', name: 'Jana Novak', email: 'jana.novak@example.com' }
  test.each([
    {
      name: 'the customer and the payment',
      alert: sampleAction({ customer, payment }),
      names: 'Jana Novak, 2014-7788',
    },
    {
      name: 'the e-mail address of a customer without a name',
      alert: sampleAction({ customer: { ...customer, name: null }, payment }),
      names: 'jana.novak@example.com, 2014-7788',
    },
    {
      name: "the provider's id of a payment without a number, and no hidden name",
      alert: sampleAction({
        customer: { ...customer, name: null, email: null },
        payment: { ...payment, number: null },
      }),
      names: 'pi_3QK5vLAbCdEfGhIj0aBcDeFg',
    },
    {
      name: 'the payment to approve',
      alert: SAMPLE_ALERTS['approval.requested'](),
      names: 'pi_3QK5vLAbCdEfGhIj0aBcDeFg',
    },
    { name: 'the project of a budget', alert: SAMPLE_ALERTS['cap.threshold'](), names: 'Acme Games' },
    { name: 'the time of a storm report', alert: SAMPLE_ALERTS['storm.reported'](), names: '2026-11-21 10:00:58 UTC' },
    { name: 'the project of an incident about a channel', alert: sampleChannelIncident(), names: 'Acme Games' },
  ])('names $name', ({ alert, names }) => {
    expect(describeDigest([alert]).entries).toMatchObject([{ names }])
  })
})

describe('the sums of a digest', () => {
  test('count the unexplained actions by kind and currency, with their money', () => {
    const alerts = [
      refund(1_000),
      refund(2_000),
      refund(500, 'jpy'),
      sampleAction({ kind: 'cancellation', amount: null }),
    ]
    expect(describeDigest(alerts).sums).toEqual([
      '2 unexplained refunds, EUR 30.00 in total',
      '1 unexplained refund, JPY 500',
      '1 unexplained cancellation',
    ])
  })

  test('count money that did not move, and other alerts, without an amount', () => {
    const alerts = [
      SAMPLE_ALERTS['incident.resolved'](),
      sampleChannelIncident(),
      sampleAction({ amount: 1_000, currency: 'eur', state: 'failed' }),
      refund(1_000),
    ]
    expect(describeDigest(alerts).sums).toEqual([
      '1 unexplained refund, EUR 10.00',
      '2 other alerts',
      '1 resolved incident',
    ])
  })

  test('count the reports about storms, and leave their money to their entries', () => {
    const storm = SAMPLE_ALERTS['storm.reported']()
    const { sums, entries } = describeDigest([refund(1_000), storm, storm])
    expect(sums).toEqual(['2 storm reports', '1 unexplained refund, EUR 10.00'])
    expect(entries[1]?.title).toMatch(/\d/)
  })

  test('never add test money to live money', () => {
    const inTest = sampleAction({ amount: 5_000, currency: 'eur', mode: 'test' })
    expect(describeDigest([refund(1_000), inTest, inTest]).sums).toEqual([
      '2 unexplained refunds (test mode), EUR 100.00 in total',
      '1 unexplained refund, EUR 10.00',
    ])
  })

  test('are limited to ten lines', () => {
    const codes = ['eur', 'usd', 'gbp', 'chf', 'sek', 'nok', 'dkk', 'pln', 'czk', 'huf', 'ron', 'bgn']
    const { sums } = describeDigest(codes.map(code => refund(1_000, code)))
    expect(sums).toHaveLength(10)
    expect(sums.at(-1)).toBe('More kinds and currencies, listed below')
  })
})

test.each(Object.values(CHANNEL_MODULES))('$kind is known to have digests, or to have none', ({ kind, digest }) => {
  expect(hasDigests(kind)).toBe(digest !== undefined)
})
