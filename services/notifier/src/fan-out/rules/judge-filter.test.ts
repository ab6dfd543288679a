import { SAMPLE_ALERTS } from '@backstop/channels'
import {
  action,
  alert,
  incidentAlerts,
  PROJECT,
  sampleChannelIncident,
  sampleConnectionIncident,
} from '@backstop/channels/test'
import type { Action, Alert, ChannelFilter } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { judgeFilter } from './judge-filter.ts'

const limits = (facts: Partial<ChannelFilter>): ChannelFilter => ({
  connection_ids: null,
  kinds: null,
  minimum_amounts: null,
  ...facts,
})

function about(facts: Partial<Action>, connectionId: string | null = 'con_1'): Alert {
  const opened = alert({ incident: { connection_id: connectionId } })
  if (opened.event !== 'incident.opened') throw new Error('The alert is of another event')
  return { ...opened, data: { ...opened.data, action: action(facts) } }
}

const REFUND = about({ kind: 'refund', amount: 2_499, currency: 'eur' })
const CANCELLATION = about({ kind: 'cancellation', amount: null, currency: null })

describe('an alert about an action', () => {
  test.each<{ name: string; alert: Alert; filter: Partial<ChannelFilter>; reason: string }>([
    { name: 'of a named connection', alert: REFUND, filter: { connection_ids: ['con_1'] }, reason: 'within_limits' },
    { name: 'of another one', alert: REFUND, filter: { connection_ids: ['con_2'] }, reason: 'other_connection' },
    { name: 'of a named kind', alert: REFUND, filter: { kinds: ['refund'] }, reason: 'within_limits' },
    { name: 'of another kind', alert: REFUND, filter: { kinds: ['cancellation'] }, reason: 'other_kind' },
    { name: 'of the minimum', alert: REFUND, filter: { minimum_amounts: { eur: 2_499 } }, reason: 'within_limits' },
    { name: 'below it', alert: REFUND, filter: { minimum_amounts: { eur: 2_500 } }, reason: 'below_minimum' },
    {
      name: 'in a currency without a minimum',
      alert: REFUND,
      filter: { minimum_amounts: { usd: 9_999 } },
      reason: 'within_limits',
    },
    {
      name: 'without an amount',
      alert: CANCELLATION,
      filter: { minimum_amounts: { eur: 9_999 } },
      reason: 'within_limits',
    },
    {
      name: 'that passes one limit of two',
      alert: REFUND,
      filter: { kinds: ['refund'], minimum_amounts: { eur: 9_999 } },
      reason: 'below_minimum',
    },
  ])('$name: $reason', ({ alert: one, filter, reason }) => {
    expect(judgeFilter(one, limits(filter)).reason).toBe(reason)
  })

  test('gets the same answer when its incident is resolved', () => {
    const { opened, resolved } = incidentAlerts('inc_1')
    for (const filter of [limits({ minimum_amounts: { eur: 2_500 } }), limits({ kinds: ['refund'] })]) {
      expect(judgeFilter(resolved, filter)).toEqual(judgeFilter(opened, filter))
    }
  })
})

test('a contradiction passes if either of its two amounts is large enough', () => {
  const drift = SAMPLE_ALERTS['drift.detected'](PROJECT)
  if (drift.event !== 'drift.detected') throw new Error('The alert is of another event')
  const { operation } = drift.data
  const differing = (says: number, shows: number): Alert => ({
    ...drift,
    data: {
      ...drift.data,
      operation: { ...operation, amount: says, currency: 'eur' },
      action: action({ amount: shows, currency: 'eur' }),
    },
  })
  const filter = limits({ minimum_amounts: { eur: 5_000 } })
  expect(judgeFilter(differing(100, 9_000), filter).kind).toBe('passes')
  expect(judgeFilter(differing(9_000, 100), filter).kind).toBe('passes')
  expect(judgeFilter(differing(100, 200), filter).kind).toBe('filtered')
})

describe('a storm', () => {
  const storm = SAMPLE_ALERTS['storm.reported'](PROJECT)
  test.each<{ name: string; filter: Partial<ChannelFilter>; reason: string }>([
    {
      name: 'whose sum is the minimum',
      filter: { minimum_amounts: { eur: 1_916_160, usd: 9e9 } },
      reason: 'within_limits',
    },
    {
      name: 'whose sums are below it',
      filter: { minimum_amounts: { eur: 1_916_161, usd: 9e9 } },
      reason: 'below_minimum',
    },
    { name: 'of another kind', filter: { kinds: ['cancellation'] }, reason: 'other_kind' },
    { name: 'of another connection', filter: { connection_ids: ['con_2'] }, reason: 'other_connection' },
  ])('$name: $reason', ({ filter, reason }) => {
    expect(judgeFilter(storm, limits(filter)).reason).toBe(reason)
  })

  test('with an action without an amount always passes a minimum', () => {
    if (storm.event !== 'storm.reported') throw new Error('The alert is of another event')
    const more = { ...storm, data: { ...storm.data, storm: { ...storm.data.storm, count: 401 } } }
    expect(judgeFilter(more, limits({ minimum_amounts: { eur: 9e9, usd: 9e9 } })).kind).toBe('passes')
  })

  test('is filtered although an action moved no money, and passes if none moved any', () => {
    if (storm.event !== 'storm.reported') throw new Error('The alert is of another event')
    const failed = (facts: { count: number; without_money: number; money?: [] }) =>
      judgeFilter(
        { ...storm, data: { ...storm.data, storm: { ...storm.data.storm, ...facts } } },
        limits({ minimum_amounts: { eur: 9e9, usd: 9e9 } }),
      ).kind
    expect(failed({ count: 401, without_money: 1 })).toBe('filtered')
    expect(failed({ count: 400, without_money: 400, money: [] })).toBe('passes')
  })
})

describe('limits on kinds and amounts', () => {
  const strict = limits({ kinds: ['cancellation'], minimum_amounts: { eur: 1_000_000_000, usd: 1_000_000_000 } })
  test.each([
    ...(['approval.requested', 'approval.reminder', 'approval.expired', 'cap.threshold', 'run.failed'] as const).map(
      event => ({ name: event, sample: SAMPLE_ALERTS[event](PROJECT) }),
    ),
    { name: 'a disabled channel', sample: sampleChannelIncident(PROJECT) },
    { name: 'a silent feed', sample: sampleConnectionIncident('FEED_SILENT') },
  ])('never hide $name', ({ sample }) => {
    expect(judgeFilter(sample, strict).kind).toBe('passes')
  })
})

describe('a limit on connections', () => {
  const elsewhere = limits({ connection_ids: ['con_of_another_shop'] })
  test('applies to the feed of a connection, and not to a disabled channel', () => {
    expect(judgeFilter(sampleConnectionIncident('FEED_SILENT'), elsewhere).kind).toBe('filtered')
    expect(judgeFilter(sampleChannelIncident(PROJECT), elsewhere).kind).toBe('passes')
  })

  test('applies to the approvals of a connection', () => {
    expect(judgeFilter(SAMPLE_ALERTS['approval.requested'](PROJECT), elsewhere).kind).toBe('filtered')
  })
})

test('a channel without a filter gets every alert', () => {
  expect(judgeFilter(REFUND, null)).toEqual({ kind: 'passes', reason: 'no_filter' })
})
