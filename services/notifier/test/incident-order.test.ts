/** The order of messages about one incident, on the whole notifier in memory: never "resolved" before "opened". */

import { incidentAlerts, webhookChannel } from '@backstop/channels/test'
import { describe, expect, test } from 'vitest'
import { type MemoryNotifier, startWithChannels } from './memory-notifier.ts'

const URL_A = 'https://a.example.com/hook'
const HOUR = 3_600_000

describe('messages about one incident', () => {
  const both = { events: ['incident.opened', 'incident.resolved'] } as const
  const bodies = (notifier: MemoryNotifier) => notifier.requests.map(request => JSON.parse(String(request.body)))

  test('keep their order on each channel', async () => {
    const notifier = await startWithChannels(webhookChannel('chn_a', URL_A, undefined, { events: [...both.events] }))
    const { opened, resolved } = incidentAlerts('inc_1')
    await notifier.publish(opened, resolved)
    await notifier.clock.advance(1_000)
    expect(bodies(notifier).map(body => body.event)).toEqual(['incident.opened', 'incident.resolved'])
    expect(bodies(notifier)[1].data.supersedes).toBeUndefined()
  })

  test('a resolve that overtakes a pending opening announces both in one message, and the opening ends visibly', async () => {
    const notifier = await startWithChannels(webhookChannel('chn_a', URL_A, undefined, { events: [...both.events] }))
    notifier.state.reply = () => 500
    const { opened, resolved } = incidentAlerts('inc_1')
    await notifier.publish(opened)
    await notifier.clock.advance(1_000)
    expect(notifier.deliveryOf(opened.alert_id, 'chn_a')?.state).toBe('retrying')
    notifier.requests.length = 0
    notifier.state.reply = () => 200
    await notifier.publish(resolved)
    await notifier.clock.advance(2 * HOUR)
    expect(bodies(notifier)).toMatchObject([
      {
        event: 'incident.resolved',
        data: { supersedes: opened.alert_id, incident: { state: 'resolved', opened_at: expect.any(String) } },
      },
    ])
    const received = notifier.deliveryOf(resolved.alert_id, 'chn_a')
    expect(received?.state).toBe('delivered')
    expect(notifier.deliveryOf(opened.alert_id, 'chn_a')).toMatchObject({
      state: 'superseded',
      told_by: received?._id,
      next_attempt: null,
      attempts: [{ attempt: 1, outcome: 'failed' }],
    })
    expect(notifier.bus.stored('deliveries.dead')).toEqual([])
  })

  test('a resolve that is retried has the same bytes each time', async () => {
    const notifier = await startWithChannels(webhookChannel('chn_a', URL_A, undefined, { events: [...both.events] }))
    notifier.state.reply = () => 500
    const { opened, resolved } = incidentAlerts('inc_1')
    await notifier.publish(opened, resolved)
    await notifier.clock.advance(20 * HOUR)
    const sent = notifier.requests
      .map(request => String(request.body))
      .filter(body => body.includes('"event":"incident.resolved"'))
    expect(sent.length).toBeGreaterThan(5)
    expect(new Set(sent).size).toBe(1)
    expect(JSON.parse(sent[0] as string).data.supersedes).toBe(opened.alert_id)
  })

  test('a channel that does not subscribe to openings gets the resolve unchanged', async () => {
    const notifier = await startWithChannels(
      webhookChannel('chn_a', URL_A, undefined, { events: ['incident.resolved'] }),
    )
    const { opened, resolved } = incidentAlerts('inc_1')
    await notifier.publish(opened, resolved)
    await notifier.clock.advance(1_000)
    expect(bodies(notifier).map(body => [body.event, body.data.supersedes])).toEqual([['incident.resolved', undefined]])
  })
})
