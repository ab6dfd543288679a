/** Who gets the resolution of an incident, on the whole notifier in memory: those who were told that it opened. */

import { type IncidentAlert, incidentAlerts, PROJECT, webhookChannel } from '@backstop/channels/test'
import type { ChannelFilter } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { startWithChannels } from './memory-notifier.ts'

const HOUR_MS = 3_600_000
const LARGE: ChannelFilter = { connection_ids: null, kinds: null, minimum_amounts: { eur: 100 } }
const NOTHING: ChannelFilter = { connection_ids: ['con_other'], kinds: null, minimum_amounts: null }

async function start(filter: ChannelFilter | null, events = ['incident.opened', 'incident.resolved'] as const) {
  const channel = webhookChannel('chn_a', 'https://receiver.example.com/', undefined, { events: [...events], filter })
  return { channel, notifier: await startWithChannels(channel) }
}

function withAmount(alert: IncidentAlert, amount: number | null): IncidentAlert {
  const { action } = alert.data
  if (action === null) throw new Error('The sample has no action')
  return { ...alert, data: { ...alert.data, action: { ...action, amount, currency: 'eur' } } }
}

/** The resolution, an hour after the incident opened. */
const anHourLater = (alert: IncidentAlert): IncidentAlert => ({
  ...alert,
  created_at: new Date(Date.parse(alert.data.incident.opened_at) + HOUR_MS).toISOString(),
})

describe('a channel with a filter', () => {
  const { opened, resolved } = incidentAlerts('inc_1')

  test('gets the resolution of what it was told, also if the facts have changed', async () => {
    const { notifier } = await start(LARGE)
    await notifier.publish(withAmount(opened, null))
    await notifier.clock.advance(HOUR_MS)
    await notifier.publish(anHourLater(withAmount(resolved, 1)))
    await notifier.clock.advance(1_000)
    expect(notifier.requests).toHaveLength(2)
  })

  test('gets the resolution of what it was told, also if the filter has changed', async () => {
    const { notifier, channel } = await start(null)
    await notifier.publish(opened)
    await notifier.clock.advance(HOUR_MS)
    notifier.collections.channels.set('chn_a', { ...channel, filter: NOTHING })
    await notifier.publish(anHourLater(resolved))
    await notifier.clock.advance(1_000)
    expect(notifier.requests).toHaveLength(2)
  })

  test('gets no resolution of what the filter kept from it, also if the filter has changed', async () => {
    const { notifier, channel } = await start(NOTHING)
    await notifier.publish(opened)
    await notifier.clock.advance(HOUR_MS)
    notifier.collections.channels.set('chn_a', { ...channel, filter: LARGE })
    await notifier.publish(anHourLater(withAmount(resolved, 5_000)))
    await notifier.clock.advance(1_000)
    expect(notifier.requests).toEqual([])
    expect(notifier.collections.deliveries.size).toBe(0)
  })

  test('gets the resolution that is read together with the opening, before the opening is recorded', async () => {
    const { notifier } = await start(LARGE)
    await notifier.publish(withAmount(opened, null), anHourLater(withAmount(resolved, 1)))
    await notifier.clock.advance(1_000)
    expect(notifier.deliveryOf(resolved.alert_id, 'chn_a')?.state).toBe('delivered')
  })
})

describe('a silence that fan-out read too late', () => {
  test('does not stop the resolution of an incident that was sent', async () => {
    const { notifier } = await start(null)
    const { opened, resolved } = incidentAlerts('inc_1')
    const openedMs = Date.parse(opened.data.incident.opened_at)
    await notifier.publish(opened)
    await notifier.clock.advance(1_000)
    notifier.collections.silences.set('sil_1', {
      _id: 'sil_1',
      project_id: PROJECT,
      connection_id: 'con_1',
      reason: 'Migration',
      created_by: 'key_1',
      created_at: new Date(openedMs - 1),
      ends_at: new Date(openedMs + HOUR_MS),
      ended_by: null,
    })
    await notifier.publish(anHourLater(resolved))
    await notifier.clock.advance(1_000)
    expect(notifier.deliveryOf(resolved.alert_id, 'chn_a')?.state).toBe('delivered')
  })
})
