/** Quiet hours of channels, on the whole notifier in memory. Its clock starts at ten o'clock UTC. */

import type { Mail } from '@backstop/channels/deliver'
import { alert, emailChannel, incidentAlerts, slackChannel } from '@backstop/channels/test'
import { describe, expect, test } from 'vitest'
import { createMemoryNotifier, type MemoryNotifier } from './memory-notifier.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const TEN = Date.parse('2026-11-21T10:00:00.000Z')
const UNTIL_NOON = { time_zone: 'UTC', from: '09:00', to: '12:00', days: null }
const NOON = TEN + 2 * HOUR_MS

async function startQuiet(notifier: MemoryNotifier = createMemoryNotifier()) {
  const facts = { quiet_hours: UNTIL_NOON, events: ['incident.opened' as const, 'incident.resolved' as const] }
  notifier.collections.channels.set('chn_mail', emailChannel('chn_mail', ['a@example.com', 'b@example.com'], facts))
  const process = await notifier.start()
  await notifier.clock.advance(100)
  return { notifier, process }
}

const idsIn = ({ text }: Mail) => [...new Set(text.match(/inc_alr_\d+/g))].toSorted()
const at = (notifier: MemoryNotifier, timeMs: number) => notifier.clock.advance(timeMs - notifier.clock.now())

describe('during quiet hours', () => {
  test('nothing is sent and no attempt is counted; at the end both addresses get one digest', async () => {
    const { notifier } = await startQuiet()
    const ids = ['alr_1', 'alr_2', 'alr_3']
    for (const id of ids) {
      await notifier.publish(alert({ id }))
      await notifier.clock.advance(17 * MINUTE_MS)
    }
    await at(notifier, NOON - 1_000)
    expect(notifier.mails).toEqual([])
    for (const id of ids) expect(notifier.deliveryOf(id, 'chn_mail')).toMatchObject({ state: 'pending', attempts: [] })
    await at(notifier, NOON + 15_000)
    expect(notifier.mails.map(mail => [mail.to, idsIn(mail)])).toEqual([
      ['a@example.com', ['inc_alr_1', 'inc_alr_2', 'inc_alr_3']],
      ['b@example.com', ['inc_alr_1', 'inc_alr_2', 'inc_alr_3']],
    ])
    for (const id of ids) {
      expect(notifier.deliveryOf(id, 'chn_mail')).toMatchObject({ state: 'delivered', attempts: [{ attempt: 1 }] })
    }
  })

  test('a single held alert is sent as its own message', async () => {
    const { notifier } = await startQuiet()
    await notifier.publish(alert({ id: 'alr_1' }))
    await at(notifier, NOON + 15_000)
    expect(notifier.mails).toHaveLength(2)
    expect(notifier.mails[0]?.subject).not.toContain('alerts in one message')
    expect(notifier.deliveryOf('alr_1', 'chn_mail')?.told_by).toBeUndefined()
  })

  test('an incident that opened and was resolved is reported once', async () => {
    const { notifier } = await startQuiet()
    const { opened, resolved } = incidentAlerts('inc_1')
    await notifier.publish(opened)
    await notifier.clock.advance(MINUTE_MS)
    await notifier.publish(resolved)
    await at(notifier, NOON + 15_000)
    expect(notifier.mails).toHaveLength(2)
    expect(notifier.deliveryOf(opened.alert_id, 'chn_mail')?.state).toBe('superseded')
    expect(notifier.deliveryOf(resolved.alert_id, 'chn_mail')?.state).toBe('delivered')
  })

  test('held alerts survive a crash of the process, and arrive once', async () => {
    const { notifier, process } = await startQuiet()
    const ids = Array.from({ length: 30 }, (_, index) => `alr_${index}`)
    await notifier.publish(...ids.map(id => alert({ id })))
    await notifier.clock.advance(HOUR_MS)
    process.kill()
    await notifier.start()
    await at(notifier, NOON - 1_000)
    expect(notifier.mails).toEqual([])
    await at(notifier, NOON + MINUTE_MS)
    const toA = notifier.mails.filter(mail => mail.to === 'a@example.com').flatMap(idsIn)
    expect(toA.toSorted()).toEqual(ids.map(id => `inc_${id}`).toSorted())
  })

  test('a retry that becomes due inside is held, too', async () => {
    const notifier = createMemoryNotifier()
    const quiet_hours = { time_zone: 'UTC', from: '10:01', to: '11:00', days: null }
    notifier.collections.channels.set(
      'chn_slack',
      slackChannel('chn_slack', 'https://hooks.slack.com/x', { quiet_hours }),
    )
    notifier.state.reply = () => (notifier.clock.now() < TEN + 2 * MINUTE_MS ? 503 : { status: 200, body: 'ok' })
    await notifier.start()
    await notifier.clock.advance(100)
    await notifier.publish(alert({ id: 'alr_1' }))
    await at(notifier, TEN + HOUR_MS - 1_000)
    const attempts = notifier.requests.length
    expect(notifier.requests.every(({ atMs }) => atMs < TEN + MINUTE_MS)).toBe(true)
    await at(notifier, TEN + HOUR_MS + 15_000)
    expect(notifier.requests).toHaveLength(attempts + 1)
    expect(notifier.deliveryOf('alr_1', 'chn_slack')?.state).toBe('delivered')
  })

  test('a person who retries a delivery gets it at once', async () => {
    const { notifier } = await startQuiet()
    await notifier.publish(alert({ id: 'alr_1' }))
    await notifier.clock.advance(MINUTE_MS)
    const delivery_id = notifier.deliveryOf('alr_1', 'chn_mail')?._id ?? ''
    await notifier.command({ kind: 'retry_delivery', delivery_id })
    await notifier.clock.advance(5_000)
    expect(notifier.mails).toHaveLength(2)
    await at(notifier, NOON + MINUTE_MS)
    expect(notifier.mails).toHaveLength(2)
  })

  test('quiet hours that are removed release the held alerts within ten minutes', async () => {
    const { notifier } = await startQuiet()
    await notifier.publish(alert({ id: 'alr_1' }))
    await notifier.clock.advance(MINUTE_MS)
    const channel = notifier.collections.channels.get('chn_mail')
    if (channel !== undefined) channel.quiet_hours = null
    await notifier.clock.advance(10 * MINUTE_MS)
    expect(notifier.mails).toHaveLength(2)
  })

  test('the end of a long queue delays no other channel of its partition, and each held alert arrives once', async () => {
    const notifier = createMemoryNotifier({ partitions: 1 })
    await startQuiet(notifier)
    const ids = Array.from({ length: 130 }, (_, index) => `alr_${index}`)
    await notifier.publish(...ids.map(id => alert({ id })))
    await at(notifier, NOON + 5_500)
    notifier.collections.channels.set('chn_other', emailChannel('chn_other', ['c@example.com']))
    await notifier.publish(alert({ id: 'alr_900' }))
    await notifier.clock.advance(500)
    expect(notifier.mails.map(({ to }) => to)).toEqual(['c@example.com'])
    await at(notifier, NOON + MINUTE_MS)
    const toA = notifier.mails.filter(mail => mail.to === 'a@example.com').flatMap(idsIn)
    expect(toA.toSorted()).toEqual([...ids, 'alr_900'].map(id => `inc_${id}`).toSorted())
  })

  test('more held alerts than the queue of their channel holds are each in exactly one message', async () => {
    const { notifier } = await startQuiet()
    const ids = Array.from({ length: 350 }, (_, index) => `alr_${index}`)
    await notifier.publish(...ids.map(id => alert({ id })))
    await at(notifier, NOON + 5 * MINUTE_MS)
    for (const address of ['a@example.com', 'b@example.com']) {
      const mails = notifier.mails.filter(({ to }) => to === address)
      expect(mails.flatMap(idsIn).toSorted()).toEqual(ids.map(id => `inc_${id}`).toSorted())
      expect(mails.length).toBeLessThanOrEqual(10)
    }
    expect(ids.every(id => notifier.deliveryOf(id, 'chn_mail')?.attempts.length === 1)).toBe(true)
  })

  test('other channels get their alerts at once', async () => {
    const notifier = createMemoryNotifier({ partitions: 1 })
    notifier.collections.channels.set('chn_other', emailChannel('chn_other', ['c@example.com']))
    await startQuiet(notifier)
    await notifier.publish(alert({ id: 'alr_1' }))
    await notifier.clock.advance(5_000)
    expect(notifier.mails.map(({ to }) => to)).toEqual(['c@example.com'])
  })
})
