import type { Alert } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { refusalOf } from '../../test/official-shapes.ts'
import { sampleChannelIncident, sampleIncident, settingWith } from '../../test/samples.ts'
import { SAMPLE_ALERTS } from '../alert-text/sample-alerts.ts'
import { type PagerDutyTrigger, pagerDutyEvent, severityOf } from './message.ts'

const CONSOLE = 'https://console.example.com'
const KEY = '0123456789abcdef0123456789abcdef'
const samples = Object.values(SAMPLE_ALERTS).map(make => make())
const trigger = (alert: Alert, publicUrl: string | null = CONSOLE) =>
  pagerDutyEvent(alert, settingWith(publicUrl)) as PagerDutyTrigger
const opened = () => SAMPLE_ALERTS['incident.opened']() as Extract<Alert, { event: 'incident.opened' }>

describe('a PagerDuty event', () => {
  test.each([...samples, sampleChannelIncident()])('has the official shape: $event', alert => {
    const body = JSON.stringify({ routing_key: KEY, ...pagerDutyEvent(alert, settingWith(CONSOLE)) })
    expect(refusalOf('pagerduty', body)).toBeUndefined()
  })

  test('of an opened incident triggers with its id as key, its facts as details and a link to its page', () => {
    expect(trigger(opened())).toMatchObject({
      event_action: 'trigger',
      dedup_key: 'inc_6g2p0n4r8t1w5y9b',
      client_url: `${CONSOLE}/p/prj_sample/incidents/inc_6g2p0n4r8t1w5y9b`,
      links: [
        { href: `${CONSOLE}/p/prj_sample/incidents/inc_6g2p0n4r8t1w5y9b`, text: 'Open in the console' },
        { text: "Provider's page" },
        { text: 'Acknowledge' },
        { text: 'This was us' },
        { text: 'Silence 2 hours' },
      ],
      payload: {
        summary: expect.stringContaining('refund of EUR 1,249.90'),
        severity: 'critical',
        class: 'UNEXPECTED_ACTION',
        custom_details: { Payment: '2014-7788', Next: expect.stringMatching(/^If a stranger made this/) },
      },
    })
  })

  test('of a resolved incident resolves with the key of the opening', () => {
    expect(pagerDutyEvent(SAMPLE_ALERTS['incident.resolved'](), settingWith(CONSOLE))).toEqual({
      event_action: 'resolve',
      dedup_key: trigger(opened()).dedup_key,
    })
  })

  test('that a storm ended without a new action wakes nobody', () => {
    const report = SAMPLE_ALERTS['storm.reported']() as Extract<Alert, { event: 'storm.reported' }>
    const { storm } = report.data
    expect(severityOf({ ...report, data: { ...report.data, storm: { ...storm, state: 'ended' } } })).toBe('info')
  })

  test('of a storm triggers, and resolves when all its actions are resolved', () => {
    const report = SAMPLE_ALERTS['storm.reported']() as Extract<Alert, { event: 'storm.reported' }>
    const { storm } = report.data
    const over = {
      ...report,
      data: { ...report.data, storm: { ...storm, state: 'ended' as const, resolved: storm.count } },
    }
    expect(pagerDutyEvent(report, settingWith(CONSOLE))).toMatchObject({
      event_action: 'trigger',
      dedup_key: storm.storm_id,
      payload: { source: 'Shop Germany', component: 'subscription', class: 'storm.reported' },
    })
    expect(pagerDutyEvent(over, settingWith(CONSOLE))).toEqual({ event_action: 'resolve', dedup_key: storm.storm_id })
  })

  test('of an incident that was opened and resolved before the channel got its opening wakes nobody', () => {
    const resolved = SAMPLE_ALERTS['incident.resolved']() as Extract<Alert, { event: 'incident.resolved' }>
    const both = { ...resolved, data: { ...resolved.data, supersedes: 'alr_opened' } }
    expect(pagerDutyEvent(both, settingWith(CONSOLE)).event_action).toBe('resolve')
  })

  test.each([
    { name: 'one approval', events: ['approval.requested', 'approval.reminder', 'approval.expired'] },
    { name: 'one incident', events: ['incident.opened', 'incident.resolved'] },
  ] as const)('has the same key for all alerts about $name', ({ events }) => {
    const keys = events.map(event => pagerDutyEvent(SAMPLE_ALERTS[event](), settingWith()).dedup_key)
    expect(new Set(keys).size).toBe(1)
  })

  test('has no link without a console, and the link into the dashboard of the provider', () => {
    expect(trigger(SAMPLE_ALERTS['run.failed'](), null)).toMatchObject({ links: [] })
    const alert = opened()
    if (alert.data.action === null) throw new Error('The sample is of another event')
    const at = (provider: string) => {
      const action = { ...alert.data.action!, links: { provider, console: null } }
      return trigger({ ...alert, data: { ...alert.data, action } }, null).links
    }
    const url = 'https://dashboard.example.com/payments/pi_1'
    expect(at(url)).toEqual([{ href: url, text: "Provider's page" }])
    expect(at('javascript:alert(1)')).toEqual([])
  })

  test('names the connection as its source, and its id while the name is unknown', () => {
    const { data, ...common } = opened()
    const named = { ...common, data: { ...data, names: { project: 'Shop', connection: 'Shop EU' } } } as Alert
    expect(trigger(named).payload.source).toBe('Shop EU')
    const { names: _unknown, ...unnamed } = data
    expect(trigger({ ...common, data: unnamed } as Alert).payload.source).toBe('con_9k3f7h1m5q2v8x4z')
  })

  test('stays within the limits of PagerDuty, whatever its data', () => {
    const long = '😀'.repeat(400_000)
    const body = JSON.stringify({
      routing_key: KEY,
      ...trigger(sampleIncident({ summary: long, connection_id: long })),
    })
    expect(refusalOf('pagerduty', body)).toBeUndefined()
    expect(body.isWellFormed()).toBe(true)
  })
})

describe('the severity', () => {
  const incident = (facts: object, code = 'UNEXPECTED_ACTION') => {
    const alert = opened()
    const data = {
      ...alert.data,
      incident: { ...alert.data.incident, code },
      action: { ...alert.data.action, ...facts },
    }
    return { ...alert, data } as Alert
  }
  const threshold = (percent: number) => {
    const alert = SAMPLE_ALERTS['cap.threshold']() as Extract<Alert, { event: 'cap.threshold' }>
    return { ...alert, data: { ...alert.data, percent } }
  }

  test.each([
    { name: 'an unexplained refund', alert: incident({}), severity: 'critical' },
    { name: 'an unexplained cancellation', alert: incident({ kind: 'cancellation' }), severity: 'critical' },
    { name: 'an unexplained refund that failed', alert: incident({ state: 'failed' }), severity: 'warning' },
    { name: 'an unexplained refund of test money', alert: incident({ mode: 'test' }), severity: 'info' },
    { name: 'a storm', alert: SAMPLE_ALERTS['storm.reported'](), severity: 'critical' },
    { name: 'a rejected refund', alert: incident({}, 'REFUND_REJECTED'), severity: 'error' },
    { name: 'a refund that was made twice', alert: incident({}, 'REFUNDED_TWICE'), severity: 'error' },
    { name: 'a canary, in test mode too', alert: incident({ mode: 'test' }, 'CANARY_USED'), severity: 'critical' },
    { name: 'a disabled channel', alert: sampleChannelIncident(), severity: 'error' },
    { name: 'a budget that is used up', alert: threshold(100), severity: 'error' },
    { name: 'a budget that is nearly used up', alert: threshold(80), severity: 'warning' },
    { name: 'an approval', alert: SAMPLE_ALERTS['approval.requested'](), severity: 'warning' },
    { name: 'a test', alert: SAMPLE_ALERTS['channel.test'](), severity: 'info' },
  ])('of $name is $severity', ({ alert, severity }) => expect(severityOf(alert)).toBe(severity))
})
