/** What PagerDuty receives about one incident, from the whole notifier in memory. */
import { incidentAlerts, pagerDutyChannel, reopened } from '@backstop/channels/test'
import { expect, test } from 'vitest'
import { startWithChannels } from './memory-notifier.ts'

const EVENTS_URL = 'https://events.pagerduty.com/v2/enqueue'
const KEY = '0123456789abcdef0123456789abcdef'
const HOUR = 3_600_000

const start = () =>
  startWithChannels(
    pagerDutyChannel('chn_a', EVENTS_URL, KEY, {
      events: ['incident.opened', 'incident.acknowledged', 'incident.resolved'],
    }),
  )
const sentBy = ({ requests }: Awaited<ReturnType<typeof start>>) =>
  requests.map(({ body }) => {
    const { event_action, dedup_key } = JSON.parse(String(body))
    return `${event_action} ${dedup_key}`
  })

test('an incident triggers, and its end resolves with the same key', async () => {
  const notifier = await start()
  notifier.state.reply = () => 202
  const { opened, resolved } = incidentAlerts('inc_1')
  await notifier.publish(opened, resolved)
  await notifier.clock.advance(1_000)
  expect(sentBy(notifier)).toEqual(['trigger inc_1', 'resolve inc_1'])
})

test('an incident that ends while PagerDuty is unavailable never pages', async () => {
  const notifier = await start()
  notifier.state.reply = () => 503
  const { opened, resolved } = incidentAlerts('inc_1')
  await notifier.publish(opened)
  await notifier.clock.advance(1_000)
  notifier.requests.length = 0
  notifier.state.reply = () => 202
  await notifier.publish(resolved)
  await notifier.clock.advance(2 * HOUR)
  expect(sentBy(notifier)).toEqual(['resolve inc_1'])
  expect(notifier.deliveryOf(opened.alert_id, 'chn_a')?.state).toBe('superseded')
  expect(notifier.deliveryOf(resolved.alert_id, 'chn_a')?.state).toBe('delivered')
})

test('an incident that somebody acknowledges stops paging, and triggers again when it is opened again', async () => {
  const notifier = await start()
  notifier.state.reply = () => 202
  const { opened, acknowledged, resolved } = incidentAlerts('inc_1')
  await notifier.publish(opened, acknowledged, resolved, reopened(opened), reopened(acknowledged))
  await notifier.clock.advance(1_000)
  expect(sentBy(notifier)).toEqual([
    'trigger inc_1',
    'acknowledge inc_1',
    'resolve inc_1',
    'trigger inc_1',
    'acknowledge inc_1',
  ])
})

test('an incident that is acknowledged or opened again while PagerDuty is unavailable: only the last event is sent', async () => {
  const notifier = await start()
  notifier.state.reply = () => 503
  const { opened, acknowledged, resolved } = incidentAlerts('inc_1')
  await notifier.publish(opened, acknowledged, resolved)
  await notifier.clock.advance(1_000)
  notifier.requests.length = 0
  notifier.state.reply = () => 202
  await notifier.publish(reopened(opened))
  await notifier.clock.advance(2 * HOUR)
  expect(sentBy(notifier)).toEqual(['trigger inc_1'])
  const states = [opened, acknowledged, resolved].map(({ alert_id }) => notifier.deliveryOf(alert_id, 'chn_a')?.state)
  expect(states).toEqual(['superseded', 'superseded', 'superseded'])
})
