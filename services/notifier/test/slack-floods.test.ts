/** The pace limit of Slack's incoming webhooks, on the whole notifier in memory. */

import { alert, slackChannel, webhookChannel } from '@backstop/channels/test'
import { describe, expect, test } from 'vitest'
import { createMemoryNotifier, startWithChannels } from './memory-notifier.ts'

describe('a Slack channel', () => {
  const HOOK = 'https://hooks.slack.com/services/T0/B0/x'

  test('gets one message a second', async () => {
    const notifier = await startWithChannels(slackChannel('chn_slack', HOOK))
    notifier.state.reply = () => ({ status: 200, body: 'ok' })
    await notifier.publish(...Array.from({ length: 10 }, (_, index) => alert({ id: `alr_${index}` })))
    await notifier.clock.advance(20_000)
    const times = notifier.requests.map(request => request.atMs)
    expect(times).toHaveLength(10)
    for (let index = 1; index < times.length; index++) {
      expect(times[index]! - times[index - 1]!).toBeGreaterThanOrEqual(1_000)
    }
  })

  test('shares its second with every channel that has the same URL, and they take turns', async () => {
    const notifier = await startWithChannels(
      slackChannel('chn_one', HOOK),
      slackChannel('chn_two', HOOK),
      slackChannel('chn_other', `${HOOK}y`),
    )
    notifier.state.reply = () => ({ status: 200, body: 'ok' })
    await notifier.publish(...Array.from({ length: 10 }, (_, index) => alert({ id: `alr_${index}` })))
    await notifier.clock.advance(9_900)
    const ofOther = notifier.requests.filter(request => request.url !== HOOK)
    expect(ofOther).toHaveLength(10)
    const shared = notifier.requests.filter(request => request.url === HOOK)
    const times = shared.map(request => request.atMs)
    expect(times).toHaveLength(10)
    for (let index = 1; index < times.length; index++) {
      expect(times[index]! - times[index - 1]!).toBeGreaterThanOrEqual(1_000)
    }
    for (const id of ['chn_one', 'chn_two']) {
      expect(shared.filter(request => request.lane === id).length).toBeGreaterThanOrEqual(4)
    }
    await notifier.clock.advance(15_000)
    for (const id of ['chn_one', 'chn_two']) expect(notifier.deliveryOf('alr_9', id)?.state).toBe('delivered')
  })

  test.each([1, 3])(
    'that is flooded, as one of %i with the same URL, delays no other one of its partition',
    async many => {
      const notifier = createMemoryNotifier({ partitions: 1 })
      const ids = Array.from({ length: many }, (_, index) => `chn_${index}`)
      for (const id of ids) notifier.collections.channels.set(id, slackChannel(id, HOOK))
      const other = webhookChannel('chn_other', 'https://other.example.com/', undefined, { project_id: 'prj_other' })
      notifier.collections.channels.set('chn_other', other)
      await notifier.start()
      notifier.state.reply = () => ({ status: 200, body: 'ok' })
      const flood = Array.from({ length: 600 }, (_, index) => alert({ id: `alr_${index}` }))
      await notifier.publish(...flood, { ...alert({ id: 'alr_other' }), project_id: 'prj_other' })
      await notifier.clock.advance(1_000)
      expect(notifier.deliveryOf('alr_other', 'chn_other')?.state).toBe('delivered')
      await notifier.clock.advance(180_000)
      const states = ids.flatMap(id => flood.map(one => notifier.deliveryOf(one.alert_id, id)?.state))
      expect(new Set(states)).toEqual(new Set(['delivered']))
    },
  )

  test('gets a flood as digests that name all of it, and each delivery names the digest that contained it', async () => {
    const notifier = await startWithChannels(slackChannel('chn_slack', HOOK))
    notifier.state.reply = () => ({ status: 200, body: 'ok' })
    const alerts = Array.from({ length: 200 }, (_, index) => alert({ id: `alr_${index}` }))
    await notifier.publish(...alerts)
    await notifier.clock.advance(60_000)
    expect(notifier.requests.length).toBeLessThan(10)
    const received = notifier.requests.map(request => String(request.body)).join('\n')
    const missing = alerts.filter(one => !received.includes(`/inc_${one.alert_id}|`))
    expect(missing.map(one => one.alert_id)).toEqual([])
    const deliveries = alerts.map(one => notifier.deliveryOf(one.alert_id, 'chn_slack'))
    expect(new Set(deliveries.map(one => one?.state))).toEqual(new Set(['delivered']))
    const digests = new Set(deliveries.flatMap(one => one?.told_by ?? []))
    expect(digests.size).toBeGreaterThan(0)
    expect(digests.size).toBeLessThan(10)
  })

  test('that refuses a digest for one alert gets the others one by one, and the refused one is dead-lettered', async () => {
    const notifier = await startWithChannels(slackChannel('chn_slack', HOOK))
    notifier.state.reply = ({ body }) =>
      /inc_odd|An odd one/.test(String(body)) ? { status: 400, body: 'invalid_blocks' } : { status: 200, body: 'ok' }
    const ids = Array.from({ length: 40 }, (_, index) => `alr_${index}`)
    const odd = alert({ id: 'odd', incident: { summary: 'An odd one' } })
    await notifier.publish(...ids.map(id => alert({ id })), odd)
    await notifier.clock.advance(5 * 60_000)
    const stateOf = (id: string) => notifier.deliveryOf(id, 'chn_slack')?.state
    expect(ids.filter(id => stateOf(id) !== 'delivered')).toEqual([])
    expect(stateOf('odd')).toBe('dead')
    // The digest is sent as blocks and as plain text; then each alert is sent alone, the refused one in both forms
    // again.
    expect(notifier.requests.length).toBeLessThanOrEqual(ids.length + 5)
    expect(notifier.collections.channelHealth.get('chn_slack')?.failing_since ?? null).toBeNull()
  })

  test('that refuses every digest delays no other channel, and gets all alerts one by one', async () => {
    const URL_OK = 'https://ok.example.com/hook'
    const notifier = createMemoryNotifier({ partitions: 1 })
    const channels = [slackChannel('chn_slack', HOOK), webhookChannel('chn_ok', URL_OK)]
    for (const one of channels) notifier.collections.channels.set(one._id, one)
    await notifier.start()
    await notifier.clock.advance(100)
    const received = (body: unknown) => new Set(String(body).match(/inc_alr_\d+/g)).size
    notifier.state.reply = ({ url, body }) =>
      url === HOOK && received(body) > 1 ? { status: 400, body: 'invalid_blocks' } : { status: 200, body: 'ok' }
    const ids = Array.from({ length: 600 }, (_, index) => `alr_${index}`)
    await notifier.publish(...ids.map(id => alert({ id })))
    await notifier.clock.advance(60_000)
    for (let index = 600; index < 610; index++) {
      await notifier.publish(alert({ id: `alr_${index}` }))
      await notifier.clock.advance(1_000)
      expect(notifier.deliveryOf(`alr_${index}`, 'chn_ok')?.state).toBe('delivered')
    }
    await notifier.clock.advance(20 * 60_000)
    expect(ids.filter(id => notifier.deliveryOf(id, 'chn_slack')?.state !== 'delivered')).toEqual([])
  })

  test('that answers 429 gets no message before its Retry-After is over, and then all messages', async () => {
    const notifier = await startWithChannels(slackChannel('chn_slack', HOOK))
    const startMs = notifier.clock.now()
    notifier.state.reply = request =>
      request.atMs < startMs + 30_000
        ? { status: 429, headers: { 'retry-after': '30' }, body: 'rate_limited' }
        : { status: 200, body: 'ok' }
    await notifier.publish(...Array.from({ length: 5 }, (_, index) => alert({ id: `alr_${index}` })))
    await notifier.clock.advance(25_000)
    expect(notifier.requests).toHaveLength(1)
    await notifier.clock.advance(10 * 60_000)
    for (let index = 0; index < 5; index++) {
      expect(notifier.deliveryOf(`alr_${index}`, 'chn_slack')?.state).toBe('delivered')
    }
    expect(notifier.requests.filter(request => request.atMs < startMs + 30_000)).toHaveLength(1)
  })
})
