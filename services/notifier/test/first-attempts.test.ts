/** How new deliveries are stored: once, with the outcome of their first attempt, unless it takes long. */

import { alert, incidentAlerts, PROJECT, slackChannel, webhookChannel } from '@backstop/channels/test'
import { describe, expect, test } from 'vitest'
import { createMemoryNotifier, startWithChannels } from './memory-notifier.ts'

const URL = 'https://receiver.example.com/'
const INCIDENT_EVENTS = ['incident.opened', 'incident.resolved'] as const

describe('a new delivery', () => {
  test('is stored with the outcome of its first attempt when that ends within a second', async () => {
    const { notifier, answer } = await startHanging()
    await notifier.publish(alert())
    await notifier.clock.advance(900)
    expect(notifier.requests).toHaveLength(1)
    expect(notifier.collections.deliveries.size).toBe(0)
    answer()
    await notifier.clock.advance(100)
    expect(notifier.deliveryOf('alr_1', 'chn_a')).toMatchObject({ state: 'delivered', attempts: [{ attempt: 1 }] })
  })

  test('is shown as pending after a second, and then with the outcome of its attempt', async () => {
    const { notifier, answer } = await startHanging()
    await notifier.publish(alert())
    await notifier.clock.advance(1_100)
    expect(notifier.deliveryOf('alr_1', 'chn_a')).toMatchObject({ state: 'pending', attempts: [] })
    answer()
    await notifier.clock.advance(100)
    expect(notifier.deliveryOf('alr_1', 'chn_a')).toMatchObject({ state: 'delivered', attempts: [{ attempt: 1 }] })
    expect(notifier.requests).toHaveLength(1)
  })

  test('is shown as pending as soon as the database is available again', async () => {
    const { notifier, answer } = await startHanging()
    await notifier.publish(alert())
    await notifier.clock.advance(500)
    notifier.state.database = 'away'
    await notifier.clock.advance(2_000)
    expect(notifier.collections.deliveries.size).toBe(0)
    notifier.state.database = 'up'
    await notifier.clock.advance(1_000)
    expect(notifier.deliveryOf('alr_1', 'chn_a')).toMatchObject({ state: 'pending', attempts: [] })
    answer()
    await notifier.clock.advance(100)
    expect(notifier.deliveryOf('alr_1', 'chn_a')?.state).toBe('delivered')
  })

  test('waits without an attempt while the keys of the process are wrong', async () => {
    // The secret of another row cannot be opened.
    const { config } = webhookChannel('chn_other', URL, 'shared-secret')
    const notifier = await startWithChannels({ ...webhookChannel('chn_a', URL), config })
    notifier.state.keys = 'wrong'
    await notifier.publish(alert())
    await notifier.clock.advance(3_600_000)
    expect(notifier.deliveryOf('alr_1', 'chn_a')).toMatchObject({ state: 'pending', attempts: [] })
    notifier.state.keys = 'right'
    await notifier.clock.advance(60_000)
    expect(notifier.deliveryOf('alr_1', 'chn_a')?.attempts[0]).toMatchObject({ attempt: 1, outcome: 'failed' })
  })

  test('whose outcome was stored and whose answer was lost is sent once', async () => {
    const notifier = await startWithChannels(webhookChannel('chn_a', URL))
    notifier.state.reply = () => {
      notifier.state.database = 'answer_lost'
      return 200
    }
    await notifier.publish(alert())
    await notifier.clock.advance(100)
    notifier.state.database = 'up'
    await notifier.clock.advance(60_000)
    expect(notifier.deliveryOf('alr_1', 'chn_a')?.attempts).toHaveLength(1)
    expect(notifier.requests).toHaveLength(1)
    expect(notifier.bus.stored('deliveries.dead')).toEqual([])
  })

  test('whose process is killed before the outcome is stored is sent again, with the same id and bytes', async () => {
    const notifier = createMemoryNotifier()
    notifier.collections.channels.set('chn_a', webhookChannel('chn_a', URL, 'secret'))
    const first = await notifier.start()
    notifier.state.reply = () => {
      notifier.state.database = 'away'
      return 200
    }
    await notifier.publish(alert())
    await notifier.clock.advance(100)
    expect(notifier.collections.deliveries.size).toBe(0)
    first.kill()
    notifier.state.reply = () => 200
    notifier.state.database = 'up'
    await notifier.start()
    await notifier.clock.advance(60_000)
    const [original, repeat] = notifier.requests
    expect(notifier.requests).toHaveLength(2)
    expect(repeat?.headers['webhook-id']).toBe(original?.headers['webhook-id'])
    expect(String(repeat?.body)).toBe(String(original?.body))
    expect(notifier.deliveryOf('alr_1', 'chn_a')).toMatchObject({ state: 'delivered', attempts: [{ attempt: 1 }] })
  })

  test('that is sent again while the outcome of a killed process is still on its way is recorded as one attempt', async () => {
    const notifier = createMemoryNotifier()
    notifier.collections.channels.set('chn_a', webhookChannel('chn_a', URL))
    const first = await notifier.start()
    notifier.state.reply = () => {
      notifier.state.databaseMs = 1_500
      return 200
    }
    await notifier.publish(alert())
    await notifier.clock.advance(1_000)
    first.kill()
    notifier.state.databaseMs = 0
    notifier.state.reply = () => new Promise(resolve => notifier.clock.schedule(900, () => resolve(500)))
    await notifier.start()
    await notifier.clock.advance(60_000)
    expect(notifier.requests).toHaveLength(2)
    expect(notifier.deliveryOf('alr_1', 'chn_a')).toMatchObject({ state: 'delivered', attempts: [{ attempt: 1 }] })
    expect(notifier.bus.stored('deliveries.dead')).toEqual([])
    expect(notifier.fatal).toEqual([])
  })

  test('is stored before it waits on a delay line', async () => {
    const notifier = await startWithChannels(webhookChannel('chn_a', URL))
    notifier.state.reply = () => ({ status: 429, headers: { 'retry-after': '60' } })
    await notifier.publish(...Array.from({ length: 30 }, (_, index) => alert({ id: `alr_${index}` })))
    await notifier.clock.advance(900)
    const states = [...notifier.collections.deliveries.values()].map(({ state }) => state)
    expect(states).toHaveLength(30)
    expect(states.filter(state => state === 'pending').length).toBeGreaterThan(0)
  })
})

describe('a resolution', () => {
  const { opened, resolved } = incidentAlerts('inc_1')

  test('in one digest with its opening ends the opening, which is not stored yet', async () => {
    const slack = slackChannel('chn_slack', 'https://hooks.slack.com/services/T0/B0/x', {
      events: [...INCIDENT_EVENTS],
    })
    const notifier = await startWithChannels(slack)
    notifier.state.reply = () => ({ status: 200, body: 'ok' })
    const flood = Array.from({ length: 20 }, (_, index) => alert({ id: `alr_${index}` }))
    await notifier.publish(...flood, opened, resolved)
    await notifier.clock.advance(60_000)
    expect(notifier.deliveryOf(opened.alert_id, 'chn_slack')).toMatchObject({
      state: 'superseded',
      told_by: notifier.deliveryOf(resolved.alert_id, 'chn_slack')?._id,
    })
    expect(notifier.deliveryOf(resolved.alert_id, 'chn_slack')?.state).toBe('delivered')
  })

  test('of an opening that is not stored yet passes a silence that was made since', async () => {
    const { notifier, answer } = await startHanging()
    await notifier.publish(opened)
    await notifier.clock.advance(100)
    const openedMs = Date.parse(opened.data.incident.opened_at)
    notifier.collections.silences.set('sil_1', {
      _id: 'sil_1',
      project_id: PROJECT,
      connection_id: 'con_1',
      reason: 'Migration',
      created_by: 'key_1',
      created_at: new Date(openedMs - 1),
      ends_at: new Date(openedMs + 3_600_000),
      ended_by: null,
    })
    await notifier.publish(resolved)
    await notifier.clock.advance(100)
    expect(notifier.collections.deliveries.size).toBe(0)
    answer()
    await notifier.clock.advance(1_000)
    expect(notifier.deliveryOf(resolved.alert_id, 'chn_a')?.state).toBe('delivered')
  })
})

/** A notifier with one webhook channel whose receiver answers when the test calls `answer`, and at once after that. */
async function startHanging() {
  const channel = webhookChannel('chn_a', URL, undefined, { events: [...INCIDENT_EVENTS] })
  const notifier = await startWithChannels(channel)
  let answer = () => {}
  const isAnswering = new Promise<void>(resolve => (answer = resolve))
  notifier.state.reply = () => isAnswering.then(() => 200)
  return { notifier, answer }
}
