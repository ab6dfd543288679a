import { alert, emailChannel, PROJECT, slackChannel, testRequest, webhookChannel } from '@backstop/channels/test'
import { frame, HEADERS, type InboundEvent } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { createMemoryNotifier, startWithChannels } from '../test/memory-notifier.ts'

const URL_A = 'https://a.example.com/hook'
const URL_B = 'https://b.example.com/hook'
const HOUR = 3_600_000
/** Three days of virtual time take some seconds of real time. */
const LONG = { timeout: 60_000 }

describe('an alert', () => {
  test('is sent to every channel of its project that subscribes to its event, in the format of the channel’s kind', async () => {
    const notifier = await startWithChannels(
      webhookChannel('chn_hook', URL_A, 'a shared secret'),
      slackChannel('chn_slack', 'https://hooks.slack.com/services/T0/B0/canary'),
      emailChannel('chn_mail', ['ops@example.com']),
      webhookChannel('chn_deaf', URL_B, undefined, { events: ['run.failed'] }),
    )
    notifier.state.reply = () => ({ status: 200, body: 'ok' })
    await notifier.publish(alert())
    await notifier.clock.advance(1_000)
    expect(notifier.requests.map(request => request.url).sort()).toEqual([
      URL_A,
      'https://hooks.slack.com/services/T0/B0/canary',
    ])
    expect(notifier.mails).toMatchObject([
      { to: 'ops@example.com', subject: '[Backstop] Unexplained refund of EUR 24.99' },
    ])
    for (const id of ['chn_hook', 'chn_slack', 'chn_mail']) {
      expect(notifier.deliveryOf('alr_1', id)).toMatchObject({ state: 'delivered', attempts: [{ attempt: 1 }] })
      expect(notifier.collections.channelHealth.get(id)?.last_success_at).not.toBeNull()
    }
    expect(notifier.attemptLines()).toHaveLength(3)
    expect(JSON.stringify(notifier.log)).not.toMatch(/canary|a shared secret/)
  })

  test('is delivered once if it arrives twice', async () => {
    const notifier = await startWithChannels(webhookChannel('chn_a', URL_A))
    await notifier.publish(alert(), alert())
    await notifier.publish(alert())
    await notifier.clock.advance(10_000)
    expect(notifier.requests).toHaveLength(1)
  })

  test('leaves no message uncommitted after its delivery to a hundred channels', async () => {
    const notifier = await startWithChannels(
      ...Array.from({ length: 100 }, (_, index) => webhookChannel(`chn_${index}`, `https://r${index}.example.com/`)),
    )
    await notifier.publish(alert())
    await notifier.clock.advance(2_000)
    expect(notifier.requests).toHaveLength(100)
    const committed = [...notifier.bus.committed('notifier.deliveries', 'deliveries').values()]
    expect(committed.reduce((sum, offset) => sum + Number(offset), 0)).toBe(100)
  })
})

describe('a delivery that fails', () => {
  test('is retried after five seconds with the same id and bytes', async () => {
    const notifier = await startWithChannels(webhookChannel('chn_a', URL_A, 'secret'))
    notifier.state.reply = () => (notifier.requests.length === 1 ? 500 : 200)
    await notifier.publish(alert())
    await notifier.clock.advance(4_900)
    expect(notifier.requests).toHaveLength(1)
    await notifier.clock.advance(1_000)
    const [first, second] = notifier.requests
    expect(String(second?.body)).toBe(String(first?.body))
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
    expect(second?.headers['X-Service-Signature']).toBe(first?.headers['X-Service-Signature'])
    expect(second?.headers['webhook-timestamp']).not.toBe(first?.headers['webhook-timestamp'])
    expect(notifier.deliveryOf('alr_1', 'chn_a')).toMatchObject({
      state: 'delivered',
      attempts: [
        { outcome: 'failed', status: 500 },
        { outcome: 'delivered', status: 200 },
      ],
    })
  })

  test('is retried on the ladder for 72 hours, then dead-lettered with its reason', LONG, async () => {
    const notifier = await startWithChannels(webhookChannel('chn_a', URL_A))
    notifier.state.reply = () => 503
    await notifier.publish(alert())
    const startMs = notifier.requests[0]?.atMs ?? 0
    await notifier.clock.advance(73 * HOUR)
    const waits = notifier.requests.map(
      (request, index) => request.atMs - (notifier.requests[index - 1]?.atMs ?? startMs),
    )
    expect(waits.map(ms => Math.round(ms / 1_000))).toEqual([0, 5, 60, 600, 3_600, ...Array(11).fill(21_600)])
    expect(notifier.deliveryOf('alr_1', 'chn_a')).toMatchObject({ state: 'dead', next_attempt: null })
    const [letter, ...others] = notifier.bus.stored('deliveries.dead')
    expect(others).toEqual([])
    expect(letter?.headers).toMatchObject({
      [HEADERS.errorCode]: 'receiver_failed',
      [HEADERS.originalTopic]: 'deliveries',
      [HEADERS.traceparent]: '00-trace-01',
    })
    expect(letter?.headers[HEADERS.errorMessage]).toContain('72 hours')
  })

  test('is retried after the time in Retry-After', async () => {
    const notifier = await startWithChannels(webhookChannel('chn_a', URL_A))
    notifier.state.reply = () =>
      notifier.requests.length === 1 ? { status: 429, headers: { 'retry-after': '30' } } : 200
    await notifier.publish(alert())
    await notifier.clock.advance(59_000)
    expect(notifier.requests).toHaveLength(1)
    await notifier.clock.advance(2_000)
    expect(notifier.deliveryOf('alr_1', 'chn_a')?.state).toBe('delivered')
  })
})

describe('a channel', () => {
  test('is disabled with a reason and gets no further alerts if its receiver answers 410', async () => {
    const notifier = await startWithChannels(webhookChannel('chn_a', URL_A), webhookChannel('chn_b', URL_B))
    notifier.state.reply = request => (request.url === URL_A ? 410 : 200)
    await notifier.publish(alert())
    await notifier.clock.advance(1_000)
    const health = notifier.collections.channelHealth.get('chn_a')
    expect(health?.disabled_at).not.toBeNull()
    expect(health?.disabled_reason).toMatch(/410 Gone.*enable the channel again/)
    expect(notifier.deliveryOf('alr_1', 'chn_a')?.state).toBe('dead')
    expect(notifier.bus.stored('deliveries.dead')).toHaveLength(1)
    await notifier.publish(alert({ id: 'alr_2' }))
    await notifier.clock.advance(10_000)
    expect(notifier.requests.filter(request => request.url === URL_A)).toHaveLength(1)
    expect(notifier.deliveryOf('alr_2', 'chn_b')?.state).toBe('delivered')
  })

  test('that is deleted before a retry ends the delivery with a reason and without an attempt', async () => {
    const channel = webhookChannel('chn_a', URL_A)
    const notifier = await startWithChannels(channel)
    notifier.state.reply = () => 500
    await notifier.publish(alert())
    notifier.collections.channels.set('chn_a', { ...channel, deleted_at: new Date() })
    await notifier.clock.advance(10_000)
    expect(notifier.requests).toHaveLength(1)
    expect(notifier.deliveryOf('alr_1', 'chn_a')).toMatchObject({
      state: 'dead',
      reason: 'The channel was deleted before this was delivered',
      attempts: [{ attempt: 1 }],
    })
    expect(notifier.bus.stored('deliveries.dead')[0]?.headers[HEADERS.errorCode]).toBe('channel_deleted')
    // An ended delivery is in the list of deliveries, so it is not stored as a dead letter as well.
    expect(notifier.collections.deadLetters.size).toBe(0)
  })

  test('that hangs delays no other channel and does not block its partition', async () => {
    const notifier = createMemoryNotifier({ partitions: 1 })
    notifier.collections.channels.set('chn_dead', webhookChannel('chn_dead', URL_A))
    notifier.collections.channels.set('chn_ok', webhookChannel('chn_ok', URL_B))
    notifier.state.reply = request => (request.url === URL_A ? 'hang' : 200)
    await notifier.start()
    await notifier.clock.advance(100)
    for (let burst = 0; burst < 10; burst++) {
      await notifier.publish(
        ...Array.from({ length: 30 }, (_, index) =>
          alert({ id: `alr_${burst}_${index}`, at: new Date(notifier.clock.now()).toISOString() }),
        ),
      )
      await notifier.clock.advance(500)
    }
    const delivered = notifier.requests.filter(request => request.url === URL_B)
    expect(delivered).toHaveLength(300)
    for (const request of delivered) {
      const made = Date.parse(JSON.parse(String(request.body)).created_at)
      expect(request.atMs - made).toBeLessThan(1_000)
    }
    // Messages beyond the queue limit wait on delay lines without an attempt counted, most of them on the longest line
    // that is not too late. No message is lost.
    expect(notifier.bus.stored('deliveries.retry.5s').length).toBeLessThan(100)
    expect(notifier.bus.stored('deliveries.retry.1m').length).toBeGreaterThan(100)
    notifier.state.reply = () => 200
    await notifier.clock.advance(HOUR)
    for (let burst = 0; burst < 10; burst++) {
      for (let index = 0; index < 30; index++) {
        expect(notifier.deliveryOf(`alr_${burst}_${index}`, 'chn_dead')?.state).toBe('delivered')
      }
    }
  })

  test('is tested with one attempt that does not change its health, even if it is disabled', async () => {
    const notifier = await startWithChannels(webhookChannel('chn_a', URL_A, undefined, { enabled: false }))
    notifier.state.reply = () => 500
    const request = testRequest('chn_a')
    const producer = notifier.bus.producer({ sendTimeoutMs: 1_000 })
    await producer.send([
      { topic: 'deliveries', key: 'chn_a', value: notifier.codec.encode('delivery-request', request), headers: {} },
    ])
    await notifier.clock.advance(60_000)
    expect(notifier.requests).toHaveLength(1)
    expect(notifier.collections.deliveries.get(request.delivery_id)).toMatchObject({
      state: 'dead',
      test: true,
      next_attempt: null,
      attempts: [{ status: 500 }],
    })
    expect(notifier.collections.channelHealth.size).toBe(0)
    expect(notifier.bus.stored('deliveries.dead')).toEqual([])
  })
})

describe('an unusable message', () => {
  test('is dead-lettered with its reason, and later messages are handled', async () => {
    const notifier = await startWithChannels(webhookChannel('chn_a', URL_A))
    const producer = notifier.bus.producer({ sendTimeoutMs: 1_000 })
    const unknown = { ...testRequest('chn_unknown'), test: false }
    await producer.send([
      { topic: 'deliveries', key: 'chn_a', value: Buffer.from('nonsense'), headers: {} },
      {
        topic: 'deliveries',
        key: 'chn_unknown',
        value: notifier.codec.encode('delivery-request', unknown),
        headers: {},
      },
      { topic: 'alerts', key: PROJECT, value: Buffer.from('nonsense'), headers: {} },
    ])
    await notifier.publish(alert())
    await notifier.clock.advance(1_000)
    expect(notifier.deliveryOf('alr_1', 'chn_a')?.state).toBe('delivered')
    const reasons = notifier.bus.stored('deliveries.dead').map(letter => letter.headers[HEADERS.errorCode])
    expect(reasons.sort()).toEqual(['channel_unknown', 'message_invalid', 'message_invalid'])
    const kept = [...notifier.collections.deadLetters.values()]
    expect(kept.map(({ topic, reason_code }) => `${topic} ${reason_code}`).sort()).toEqual([
      'alerts message_invalid',
      'deliveries channel_unknown',
      'deliveries message_invalid',
    ])
  })

  test('of the reconciler is stored with its project, and a notification is not stored again', async () => {
    const notifier = await startWithChannels()
    const producer = notifier.bus.producer({ sendTimeoutMs: 1_000 })
    const event: InboundEvent = {
      ...{ provider: 'processor', project_id: PROJECT, connection_id: 'con_1', event_id: 'evt_1' },
      ...{ event_type: 'refund.created', received_at: '2026-11-21T10:00:00.000Z', body: {} },
    }
    const dead = { topic: 'inbound.dead', key: 'k' } as const
    const value = frame(77, JSON.stringify({ project_id: PROJECT, ref: 'act_1' }))
    await producer.send([
      { ...dead, value: frame(77, JSON.stringify(event)), headers: { [HEADERS.originalTopic]: 'inbound.processor' } },
      { ...dead, value, headers: { [HEADERS.originalTopic]: 'rechecks.due' } },
    ])
    await notifier.clock.advance(1_000)
    expect([...notifier.collections.deadLetters.values()]).toMatchObject([
      { kind: 'recheck', project_id: PROJECT, topic: 'rechecks.due', value: value.toString('base64') },
    ])
  })

  test('of a recorded delivery ends the delivery with a reason and is not stored as a dead letter', async () => {
    const notifier = await startWithChannels(webhookChannel('chn_a', URL_A))
    // A message of a later version, for example: its delivery is stored first, and then this version finds an unknown
    // channel kind.
    const strange = webhookChannel('chn_strange', URL_B)
    const config = { ...strange.config, kind: 'pager' } as unknown as typeof strange.config
    notifier.collections.channels.set('chn_strange', { ...strange, config })
    await notifier.publish(alert())
    await notifier.clock.advance(10_000)
    expect(notifier.deliveryOf('alr_1', 'chn_a')?.state).toBe('delivered')
    expect(notifier.deliveryOf('alr_1', 'chn_strange')).toMatchObject({
      state: 'dead',
      reason: expect.stringContaining('could not be used (internal)'),
      next_attempt: null,
      attempts: [],
    })
    expect(notifier.collections.deadLetters.size).toBe(0)
  })

  test('of a retried delivery ends the delivery, which a person can send again', async () => {
    const channel = webhookChannel('chn_a', URL_A)
    const notifier = await startWithChannels(channel)
    notifier.state.reply = () => 500
    await notifier.publish(alert())
    await notifier.clock.advance(1_000)
    expect(notifier.deliveryOf('alr_1', 'chn_a')?.state).toBe('retrying')
    const config = { ...channel.config, kind: 'pager' } as unknown as typeof channel.config
    notifier.collections.channels.set('chn_a', { ...channel, config })
    await notifier.clock.advance(60_000)
    const dead = notifier.deliveryOf('alr_1', 'chn_a')
    expect(dead).toMatchObject({
      state: 'dead',
      reason: expect.stringContaining('could not be used (internal)'),
      next_attempt: null,
      attempts: [{ attempt: 1 }],
    })
    expect(notifier.collections.deadLetters.size).toBe(0)
    notifier.collections.channels.set('chn_a', channel)
    notifier.state.reply = () => 200
    await notifier.clock.advance(60_000)
    await notifier.command({ kind: 'retry_delivery', delivery_id: dead?._id ?? '' })
    await notifier.clock.advance(60_000)
    expect(notifier.deliveryOf('alr_1', 'chn_a')).toMatchObject({
      state: 'delivered',
      attempts: [{ attempt: 1 }, { attempt: 2, outcome: 'delivered' }],
    })
  })

  test('that cannot be decoded ends its delivery, which can be sent again without it', async () => {
    const notifier = await startWithChannels(webhookChannel('chn_a', URL_A))
    notifier.state.reply = () => 500
    await notifier.publish(alert())
    await notifier.clock.advance(1_000)
    const delivery = notifier.deliveryOf('alr_1', 'chn_a')
    const producer = notifier.bus.another().producer({ sendTimeoutMs: 1_000 })
    // The message names the delivery's first attempt, which has ended: the delivery waits for its second attempt.
    const about = (attempt: string) => ({ [HEADERS.deliveryId]: delivery?._id ?? '', [HEADERS.attempt]: attempt })
    const nonsense = { topic: 'deliveries' as const, key: 'chn_a', value: Buffer.from('nonsense') }
    await producer.send([{ ...nonsense, headers: about('1') }])
    await notifier.clock.advance(1_000)
    expect(notifier.deliveryOf('alr_1', 'chn_a')?.state).toBe('retrying')
    expect([...notifier.collections.deadLetters.values()]).toMatchObject([{ reason_code: 'message_invalid' }])
    await producer.send([{ ...nonsense, headers: about('2') }])
    await notifier.clock.advance(1_000)
    expect(notifier.deliveryOf('alr_1', 'chn_a')).toMatchObject({
      state: 'dead',
      reason: expect.stringContaining('could not be used (message_invalid)'),
    })
    notifier.state.reply = () => 200
    await notifier.command({ kind: 'retry_delivery', delivery_id: delivery?._id ?? '' })
    await notifier.clock.advance(1_000)
    expect(notifier.deliveryOf('alr_1', 'chn_a')?.state).toBe('delivered')
  })

  test('that is dead-lettered again after a resend is stored once', async () => {
    const notifier = await startWithChannels()
    const producer = notifier.bus.another().producer({ sendTimeoutMs: 1_000 })
    await producer.send([{ topic: 'alerts', key: PROJECT, value: Buffer.from('nonsense'), headers: { a: 'b' } }])
    await notifier.clock.advance(1_000)
    const [first] = [...notifier.collections.deadLetters.values()]
    expect(first).toMatchObject({ topic: 'alerts', key: PROJECT, reason_code: 'message_invalid' })
    expect(Buffer.from(first?.value ?? '', 'base64').toString()).toBe('nonsense')
    await notifier.clock.advance(60_000)
    await producer.send([
      { topic: 'alerts', key: PROJECT, value: Buffer.from('nonsense'), headers: first?.headers ?? {} },
    ])
    await notifier.clock.advance(1_000)
    const [again, ...others] = [...notifier.collections.deadLetters.values()]
    expect(others).toEqual([])
    expect(again).toEqual({ ...first, parked_at: again?.parked_at })
    expect(again!.parked_at.getTime()).toBeGreaterThan(first!.parked_at.getTime())
  })

  test('is stored when the database is available again', async () => {
    const notifier = await startWithChannels()
    const producer = notifier.bus.another().producer({ sendTimeoutMs: 1_000 })
    notifier.state.database = 'away'
    await producer.send([{ topic: 'commands', key: 'x', value: Buffer.from('nonsense'), headers: {} }])
    await notifier.clock.advance(10_000)
    expect(notifier.collections.deadLetters.size).toBe(0)
    notifier.state.database = 'up'
    await notifier.clock.advance(30_000)
    expect(notifier.collections.deadLetters.size).toBe(1)
  })
})

describe('an unavailable dependency', () => {
  test('a database outage of a minute neither loses nor repeats a delivery', async () => {
    const notifier = await startWithChannels(webhookChannel('chn_a', URL_A))
    notifier.state.reply = () => {
      // The database fails between the attempt and the recording of its result.
      notifier.state.database = 'away'
      return 200
    }
    await notifier.publish(alert())
    await notifier.publish(alert({ id: 'alr_2' }))
    await notifier.clock.advance(60_000)
    expect(notifier.requests).toHaveLength(1)
    notifier.state.reply = () => 200
    notifier.state.database = 'up'
    await notifier.clock.advance(60_000)
    expect(notifier.requests).toHaveLength(2)
    for (const id of ['alr_1', 'alr_2']) expect(notifier.deliveryOf(id, 'chn_a')?.state).toBe('delivered')
    expect(notifier.fatal).toEqual([])
  })
})
