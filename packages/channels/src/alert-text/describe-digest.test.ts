import type { Action, Alert } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { sampleAction, sampleChannelIncident } from '../../test/samples.ts'
import { CHANNEL_MODULES } from '../registry.ts'
import { describeDigest, hasDigests } from './describe-digest.ts'
import { SAMPLE_ALERTS, SAMPLE_READER } from './sample-alerts.ts'

let refunds = 0
const refund = (amount: number | null, currency: string | null = 'eur', facts: Partial<Action> = {}) =>
  another(sampleAction({ amount, currency, ...facts }))

/** The alert about another incident. */
function another(alert: Alert): Alert {
  if (!('incident' in alert.data)) throw new Error('The alert is about no incident')
  const incident = { ...alert.data.incident, incident_id: `inc_${refunds++}` }
  return { ...alert, data: { ...alert.data, incident } } as Alert
}

describe('an entry of a digest', () => {
  test.each([
    { name: 'the number of the payment', alert: sampleAction(), names: '2014-7788' },
    {
      name: "the provider's id of a payment without a number",
      alert: sampleAction({ payment: { number: null, plan: null, refund_reason: null, destination: null } }),
      names: 'pi_3QK5vLAbCdEfGhIj0aBcDeFg',
    },
    {
      name: 'the payment to approve',
      alert: SAMPLE_ALERTS['approval.requested'](),
      names: 'pi_3QK5vLAbCdEfGhIj0aBcDeFg',
    },
    { name: 'the project of a budget', alert: SAMPLE_ALERTS['cap.threshold'](), names: 'Acme Games' },
    { name: 'the project of a storm', alert: SAMPLE_ALERTS['storm.reported'](), names: 'Acme Games' },
    { name: 'the project of an incident about a channel', alert: sampleChannelIncident(), names: 'Acme Games' },
  ])('names $name', ({ alert, names }) => {
    expect(describeDigest([alert], SAMPLE_READER).entries).toMatchObject([{ names }])
  })
})

describe('the entries of a digest', () => {
  test('are sorted by amount, the currency of most first, and those without an amount last', () => {
    const alerts = [
      refund(null, null),
      refund(900_000, 'jpy'),
      refund(1_000),
      SAMPLE_ALERTS['run.failed'](),
      refund(90_000),
      refund(5_000),
    ]
    const money = describeDigest(alerts, SAMPLE_READER).entries.map(
      ({ title }) => /[A-Z]{3} [\d,.]+/.exec(title)?.[0] ?? null,
    )
    expect(money).toEqual(['EUR 900.00', 'EUR 50.00', 'EUR 10.00', 'JPY 900,000', null, null])
  })

  test('are one for an incident, an operation, a budget and a storm, whatever happened to it', () => {
    const happened = Object.values(SAMPLE_ALERTS).map(make => make())
    const references = describeDigest([...happened, ...happened], SAMPLE_READER).entries.map(
      ({ reference }) => reference,
    )
    expect(references).toHaveLength(new Set(references).size)
    expect(references).toContain('inc_6g2p0n4r8t1w5y9b')
  })

  test('name the last state of an incident that was opened in the same digest', () => {
    const titleOf = (...events: ('incident.opened' | 'incident.acknowledged' | 'incident.resolved')[]) =>
      describeDigest(
        events.map(event => SAMPLE_ALERTS[event]()),
        SAMPLE_READER,
      ).entries.map(({ title }) => title.split(':')[0])
    expect(titleOf('incident.opened', 'incident.acknowledged')).toEqual(['Opened and acknowledged'])
    expect(titleOf('incident.opened', 'incident.acknowledged', 'incident.resolved')).toEqual(['Opened and resolved'])
    expect(titleOf('incident.acknowledged', 'incident.resolved')).toEqual(['Resolved'])
  })
})

describe('the sums of a digest', () => {
  test('count the unexplained actions by kind and currency, with their money', () => {
    const alerts = [refund(1_000), refund(2_000), refund(500, 'jpy'), refund(null, null, { kind: 'cancellation' })]
    expect(describeDigest(alerts, SAMPLE_READER).sums).toEqual([
      '2 unexplained refunds, EUR 30.00 in total',
      '1 unexplained refund, JPY 500',
      '1 unexplained cancellation',
    ])
  })

  test('count money that did not move, and other alerts, without an amount', () => {
    const alerts = [
      SAMPLE_ALERTS['incident.resolved'](),
      another(sampleChannelIncident()),
      refund(1_000, 'eur', { state: 'failed' }),
      refund(1_000),
    ]
    expect(describeDigest(alerts, SAMPLE_READER).sums).toEqual([
      '1 unexplained refund, EUR 10.00',
      '2 other alerts',
      '1 resolved incident',
    ])
  })

  test('count the reports about storms, and leave their money to their entries', () => {
    const storm = SAMPLE_ALERTS['storm.reported']()
    const { sums, entries } = describeDigest([refund(1_000), storm, storm], SAMPLE_READER)
    expect(sums).toEqual(['1 storm report', '1 unexplained refund, EUR 10.00'])
    expect(entries[0]?.title).toContain('EUR 19,161.60')
  })

  test('never add test money to live money', () => {
    const inTest = () => refund(5_000, 'eur', { mode: 'test' })
    expect(describeDigest([refund(1_000), inTest(), inTest()], SAMPLE_READER).sums).toEqual([
      '2 unexplained refunds (test mode), EUR 100.00 in total',
      '1 unexplained refund, EUR 10.00',
    ])
  })

  test('are limited to ten lines', () => {
    const codes = ['eur', 'usd', 'gbp', 'chf', 'sek', 'nok', 'dkk', 'pln', 'czk', 'huf', 'ron', 'bgn']
    const { sums } = describeDigest(
      codes.map(code => refund(1_000, code)),
      SAMPLE_READER,
    )
    expect(sums).toHaveLength(10)
    expect(sums.at(-1)).toBe('More kinds and currencies, listed below')
  })
})

test.each(Object.values(CHANNEL_MODULES))('$kind is known to have digests, or to have none', ({ kind, digest }) => {
  expect(hasDigests(kind)).toBe(digest !== undefined)
})
