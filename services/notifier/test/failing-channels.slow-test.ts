/** Disabling and pausing of failing channels, on the whole notifier in memory. */

import { alert, webhookChannel } from '@backstop/channels/test'
import { describe, expect, test } from 'vitest'
import { startWithChannels } from './memory-notifier.ts'

const URL_A = 'https://a.example.com/hook'
const URL_B = 'https://b.example.com/hook'
const HOUR = 3_600_000
/** Six days of virtual time take some seconds of real time. */
const LONG = { timeout: 120_000 }

describe('a channel', () => {
  test('that was disabled informs its project by a command to the owner of incidents, once', async () => {
    const notifier = await startWithChannels(webhookChannel('chn_a', URL_A, undefined, { name: 'Ops' }))
    notifier.state.reply = () => 410
    await notifier.publish(alert(), alert({ id: 'alr_2' }), alert({ id: 'alr_3' }))
    await notifier.clock.advance(60_000)
    const health = notifier.collections.channelHealth.get('chn_a')
    expect(await notifier.commands()).toMatchObject([
      {
        kind: 'open_channel_incident',
        channel_id: 'chn_a',
        channel_name: 'Ops',
        incident_id: health?.disabled_incident_id,
        reason: health?.disabled_reason,
      },
    ])
    expect(health?.outbox).toEqual([])
  })

  test('that did nothing but fail for five days is disabled, and its project is informed', LONG, async () => {
    const notifier = await startWithChannels(webhookChannel('chn_a', URL_A), webhookChannel('chn_b', URL_B))
    notifier.state.reply = request => (request.url === URL_A ? 500 : 200)
    for (let day = 0; day < 6; day++) {
      await notifier.publish(alert({ id: `alr_${day}`, at: new Date(notifier.clock.now()).toISOString() }))
      await notifier.clock.advance(24 * HOUR)
      const isDisabled = notifier.collections.channelHealth.get('chn_a')?.disabled_at != null
      expect(isDisabled, `after day ${day + 1}`).toBe(day >= 5)
    }
    const health = notifier.collections.channelHealth.get('chn_a')
    expect(health?.disabled_reason).toBe(
      'Nothing arrived there for five days. The last failure: The receiver answered 500; read its log at the time of this attempt',
    )
    expect(await notifier.commands()).toMatchObject([
      { kind: 'open_channel_incident', channel_id: 'chn_a', fault: 'failing' },
      { kind: 'open_channel_incident', channel_id: 'chn_a' },
      { kind: 'resolve_channel_incident', channel_id: 'chn_a', outcome: 'disabled' },
    ])
    expect(notifier.collections.channelHealth.get('chn_b')).toMatchObject({ disabled_at: null, failing_since: null })
  })

  test('that keeps failing is paused: its alerts wait without counted attempts, and all arrive', async () => {
    const notifier = await startWithChannels(webhookChannel('chn_a', URL_A), webhookChannel('chn_b', URL_B))
    let works = false
    notifier.state.reply = request => (request.url === URL_A && !works ? 500 : 200)
    const now = () => new Date(notifier.clock.now()).toISOString()
    await notifier.publish(...Array.from({ length: 40 }, (_, index) => alert({ id: `alr_${index}`, at: now() })))
    await notifier.clock.advance(4_000)
    const tried = notifier.requests.filter(request => request.url === URL_A).length
    // Five failures open the breaker, and its pause lets ten first attempts through.
    expect(tried).toBe(15)
    expect(notifier.requests.filter(request => request.url === URL_B)).toHaveLength(40)
    expect(notifier.deliveryOf('alr_39', 'chn_a')).toMatchObject({ state: 'pending', attempts: [] })
    works = true
    await notifier.clock.advance(HOUR)
    for (let index = 0; index < 40; index++) {
      expect(notifier.deliveryOf(`alr_${index}`, 'chn_a')?.state).toBe('delivered')
    }
    expect(notifier.fatal).toEqual([])
  })
})
