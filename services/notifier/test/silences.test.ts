/** Silences of connections, on the whole notifier in memory. */

import { incidentAlerts, PROJECT, webhookChannel } from '@backstop/channels/test'
import type { SilenceDocument } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { startWithChannels } from './memory-notifier.ts'

const events = ['incident.opened', 'incident.resolved'] as const
const HOUR_MS = 3_600_000

/** A silence of the connection of all sample incidents, which open at the start of the notifier's clock. */
async function silenced(endsInMs: number) {
  const channel = webhookChannel('chn_a', 'https://receiver.example.com/', undefined, { events: [...events] })
  const notifier = await startWithChannels(channel)
  const opened = incidentAlerts('inc_1').opened
  const openedMs = Date.parse(opened.data.incident.opened_at)
  const document: SilenceDocument = {
    _id: 'sil_1',
    project_id: PROJECT,
    connection_id: 'con_1',
    reason: 'Migration',
    created_by: 'key_1',
    created_at: new Date(openedMs - 1_000),
    ends_at: new Date(openedMs + endsInMs),
    ended_by: null,
  }
  notifier.collections.silences.set(document._id, document)
  return notifier
}

describe('a silenced connection', () => {
  test('sends no alert to any channel, and logs why', async () => {
    const notifier = await silenced(HOUR_MS)
    const { opened } = incidentAlerts('inc_1')
    await notifier.publish(opened)
    await notifier.clock.advance(60_000)
    expect(notifier.requests).toEqual([])
    expect(notifier.collections.deliveries.size).toBe(0)
    expect(notifier.log).toContainEqual(
      expect.objectContaining({ msg: 'alert.silenced', alert_id: opened.alert_id, silence_id: 'sil_1' }),
    )
  })

  test('sends no resolution of an incident that opened silenced, even after the silence', async () => {
    const notifier = await silenced(HOUR_MS)
    const { opened, resolved } = incidentAlerts('inc_1')
    await notifier.publish(opened)
    await notifier.clock.advance(2 * HOUR_MS)
    await notifier.publish({ ...resolved, created_at: new Date(notifier.clock.now()).toISOString() })
    await notifier.clock.advance(60_000)
    expect(notifier.requests).toEqual([])
  })

  test('has no storm of the actions that were silenced', async () => {
    const notifier = await silenced(HOUR_MS)
    await notifier.publish(...Array.from({ length: 20 }, (_, index) => incidentAlerts(`inc_${index}`).opened))
    await notifier.clock.advance(60_000)
    expect(notifier.collections.stormMembers.size).toBe(0)
  })

  test('has no storm, however many incidents open', async () => {
    const notifier = await silenced(HOUR_MS)
    const alerts = Array.from({ length: 30 }, (_, index) => incidentAlerts(`inc_${index}`).opened)
    await notifier.publish(...alerts)
    await notifier.clock.advance(20 * 60_000)
    expect(notifier.collections.stormMembers.size + notifier.collections.storms.size).toBe(0)
    expect(notifier.requests).toEqual([])
  })

  test('sends the alerts of incidents that open after the silence', async () => {
    const notifier = await silenced(HOUR_MS)
    const { opened } = incidentAlerts('inc_2')
    const opened_at = new Date(notifier.clock.now() + 2 * HOUR_MS).toISOString()
    const incident = { ...opened.data.incident, opened_at }
    await notifier.publish({ ...opened, data: { ...opened.data, incident } })
    await notifier.clock.advance(60_000)
    expect(notifier.requests).toHaveLength(1)
  })
})
