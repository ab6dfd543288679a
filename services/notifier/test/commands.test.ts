/** Commands to the notifier, on the whole notifier in memory. */

import type { ChannelDocument } from '@backstop/channels'
import { action, alert, incidentAlerts, PROJECT, webhookChannel } from '@backstop/channels/test'
import type { ChannelHealthDocument, DeliveryDocument } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { newDelivery } from '../src/delivery-record/delivery-store.ts'
import { createMemoryNotifier, type MemoryNotifier, startWithChannels } from './memory-notifier.ts'

const URL_A = 'https://a.example.com/hook'
const URL_B = 'https://b.example.com/hook'
const HOUR = 3_600_000

const idOf = (notifier: MemoryNotifier, alertId: string) => notifier.deliveryOf(alertId, 'chn_a')?._id as string
const alerts = (notifier: MemoryNotifier, count: number, prefix = 'alr') =>
  Array.from({ length: count }, (_, index) =>
    alert({ id: `${prefix}_${index}`, at: new Date(notifier.clock.now()).toISOString() }),
  )

describe('a retry by hand', () => {
  test('attempts a waiting delivery at once and uses up no rung of its ladder', async () => {
    const notifier = await startWithChannels(webhookChannel('chn_a', URL_A))
    notifier.state.reply = () => 500
    await notifier.publish(...alerts(notifier, 1))
    await notifier.clock.advance(12 * 60_000)
    // Attempts 1 to 4 failed; the fifth is due in an hour.
    expect(notifier.requests).toHaveLength(4)
    for (let pressed = 1; pressed <= 5; pressed++) {
      await notifier.command({ kind: 'retry_delivery', delivery_id: idOf(notifier, 'alr_0') })
      await notifier.clock.advance(1_000)
      expect(notifier.requests).toHaveLength(4 + pressed)
      expect(notifier.deliveryOf('alr_0', 'chn_a')).toMatchObject({
        state: 'retrying',
        next_attempt: { attempt: 5 + pressed, topic: 'deliveries.retry.1h' },
      })
    }
    const due = notifier.deliveryOf('alr_0', 'chn_a')?.next_attempt?.due_at.getTime() as number
    // The delayed messages of the manual attempts come from their delay line and are skipped.
    await notifier.clock.advance(due - notifier.clock.now() - 1)
    expect(notifier.requests).toHaveLength(9)
    await notifier.clock.advance(5 * 60_000)
    expect(notifier.requests).toHaveLength(10)
    expect(notifier.deliveryOf('alr_0', 'chn_a')?.next_attempt?.topic).toBe('deliveries.retry.6h')
    const numbers = notifier.deliveryOf('alr_0', 'chn_a')?.attempts.map(row => row.attempt)
    expect(numbers).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  })

  test('sends a dead delivery again with a new ladder', async () => {
    const notifier = await startWithChannels(webhookChannel('chn_a', URL_A))
    // Three attempts fail, and then the receiver answers that it is permanently gone.
    notifier.state.reply = () => (notifier.requests.length < 4 ? 500 : 410)
    await notifier.publish(...alerts(notifier, 1))
    await notifier.clock.advance(12 * 60_000)
    expect(notifier.deliveryOf('alr_0', 'chn_a')).toMatchObject({ state: 'dead', attempts: { length: 4 } })
    await notifier.command({ kind: 'enable_channel', channel_id: 'chn_a' })
    notifier.state.reply = () => 500
    await notifier.command({ kind: 'retry_delivery', delivery_id: idOf(notifier, 'alr_0') })
    await notifier.clock.advance(1_000)
    expect(notifier.deliveryOf('alr_0', 'chn_a')).toMatchObject({
      state: 'retrying',
      attempts: { length: 5 },
      next_attempt: { attempt: 6, topic: 'deliveries.retry.5s' },
    })
    notifier.state.reply = () => 200
    await notifier.clock.advance(10_000)
    expect(notifier.deliveryOf('alr_0', 'chn_a')?.state).toBe('delivered')
  })

  test('that arrives twice requests one attempt', async () => {
    const notifier = await startWithChannels(webhookChannel('chn_a', URL_A))
    notifier.state.reply = () => 500
    await notifier.publish(...alerts(notifier, 1))
    await notifier.clock.advance(12 * 60_000)
    const command = { kind: 'retry_delivery', delivery_id: idOf(notifier, 'alr_0'), command_id: 'cmd_1' } as const
    await notifier.command(command, command)
    await notifier.clock.advance(1_000)
    await notifier.command(command)
    await notifier.clock.advance(1_000)
    expect(notifier.requests).toHaveLength(5)
  })

  test.each([
    { name: 'a delivered one', of: 'alr_0' },
    { name: 'an unknown one', of: 'alr_unknown' },
  ])('of $name changes nothing, and says so in the log', async ({ of }) => {
    const notifier = await startWithChannels(webhookChannel('chn_a', URL_A))
    await notifier.publish(...alerts(notifier, 1))
    await notifier.clock.advance(1_000)
    await notifier.command({ kind: 'retry_delivery', delivery_id: idOf(notifier, of) ?? 'dlv_unknown' })
    await notifier.clock.advance(60_000)
    expect(notifier.requests).toHaveLength(1)
    expect(notifier.log.filter(line => line.msg === 'command.done')).toMatchObject([
      { kind: 'retry_delivery', reason: expect.stringMatching(/refused|unknown/) },
    ])
    expect(notifier.bus.stored('deliveries.dead')).toEqual([])
  })

  test('of another project’s delivery changes nothing', async () => {
    const notifier = await startWithChannels(webhookChannel('chn_a', URL_A))
    notifier.state.reply = () => 500
    await notifier.publish(...alerts(notifier, 1))
    await notifier.clock.advance(12 * 60_000)
    const delivery_id = idOf(notifier, 'alr_0')
    await notifier.command({ kind: 'retry_delivery', delivery_id, project_id: 'prj_other' })
    await notifier.clock.advance(1_000)
    expect(notifier.requests).toHaveLength(4)
  })
})

describe('a bulk replay', () => {
  /** A channel that works again after it was disabled, with this many dead deliveries. */
  async function recovered(count: number, events: ChannelDocument['events'] = ['incident.opened']) {
    const notifier = createMemoryNotifier()
    const channel = webhookChannel('chn_a', URL_A, undefined, { events })
    notifier.collections.channels.set('chn_a', channel)
    let process = await notifier.start()
    await notifier.clock.advance(100)
    const from = new Date(notifier.clock.now()).toISOString()
    notifier.state.reply = () => 410
    await notifier.publish(...alerts(notifier, 1))
    await notifier.clock.advance(1_000)
    // The channel is disabled, so its deliveries end without an attempt.
    for (let index = 1; index < count; index += 50) {
      await notifier.publish(...alerts(notifier, count).slice(index, index + 50))
      await notifier.clock.advance(1_000)
    }
    const to = new Date(notifier.clock.now() + 1).toISOString()
    await notifier.command({ kind: 'enable_channel', channel_id: 'chn_a' })
    await notifier.clock.advance(3_000)
    notifier.requests.length = 0
    notifier.state.reply = () => 200
    const kill = async () => {
      process.kill()
      process = await notifier.start()
    }
    const command = { kind: 'replay_deliveries', replay_id: 'rpl_1', channel_id: 'chn_a', from, to } as const
    return { notifier, command, kill }
  }
  const states = (notifier: MemoryNotifier) =>
    Map.groupBy(notifier.collections.deliveries.values(), delivery => delivery.state)

  test('sends all unsuccessful deliveries of its window again, and reports its progress', async () => {
    const { notifier, command } = await recovered(250)
    expect(states(notifier).get('dead')).toHaveLength(250)
    await notifier.command(command, command)
    await notifier.clock.advance(800)
    const begun = notifier.collections.replays.get('rpl_1')
    expect(begun).toMatchObject({ state: 'running', total: 250 })
    expect(begun?.requeued).toBeGreaterThan(0)
    expect(begun?.requeued).toBeLessThan(250)
    await notifier.clock.advance(30_000)
    expect(notifier.collections.replays.get('rpl_1')).toMatchObject({
      state: 'done',
      total: 250,
      requeued: 250,
      finished_at: expect.any(Date),
    })
    expect(states(notifier).get('delivered')).toHaveLength(250)
    expect(notifier.requests).toHaveLength(250)
  })

  test('waits for its channel, with at most two pages in flight', async () => {
    const { notifier, command } = await recovered(350)
    notifier.state.reply = () => 'hang'
    await notifier.command(command)
    await notifier.clock.advance(15_000)
    expect(notifier.collections.replays.get('rpl_1')?.requeued).toBeLessThanOrEqual(200)
    notifier.state.reply = () => 200
    await notifier.clock.advance(HOUR)
    expect(notifier.collections.replays.get('rpl_1')).toMatchObject({ state: 'done', requeued: 350 })
    expect(states(notifier).get('delivered')).toHaveLength(350)
  })

  test('continues after a crash and loses no delivery', async () => {
    const { notifier, command, kill } = await recovered(250)
    await notifier.command(command)
    for (let round = 0; round < 4; round++) {
      await notifier.clock.advance(600)
      await kill()
    }
    await notifier.clock.advance(5 * 60_000)
    expect(notifier.collections.replays.get('rpl_1')?.state).toBe('done')
    expect(states(notifier).get('delivered')).toHaveLength(250)
  })

  test('keeps the order of an incident that was opened and resolved while the channel was disabled', async () => {
    const { notifier, command } = await recovered(1, ['incident.opened', 'incident.resolved'])
    const health = notifier.collections.channelHealth.get('chn_a') as ChannelHealthDocument
    notifier.collections.channelHealth.set('chn_a', { ...health, disabled_at: new Date(0), disabled_reason: 'Gone' })
    await notifier.clock.advance(3_000)
    const { opened, resolved } = incidentAlerts('inc_meanwhile', { at: new Date(notifier.clock.now()).toISOString() })
    await notifier.publish(opened, resolved)
    await notifier.clock.advance(1_000)
    for (const { alert_id } of [opened, resolved]) {
      expect(notifier.deliveryOf(alert_id, 'chn_a')).toMatchObject({
        state: 'dead',
        reason: 'The channel is disabled: Gone',
        attempts: [],
      })
    }
    notifier.collections.channelHealth.set('chn_a', health)
    await notifier.clock.advance(3_000)
    await notifier.command({ ...command, to: new Date(notifier.clock.now()).toISOString() })
    await notifier.clock.advance(3_000)
    const received = notifier.requests
      .map(({ body }) => JSON.parse(`${body}`))
      .filter(one => one.data.incident.incident_id === 'inc_meanwhile')
    // Either two messages in order, or one message for both: never "opened" after "resolved".
    expect(received.at(-1)?.event).toBe('incident.resolved')
    expect(received.map(one => one.event).slice(0, -1)).toEqual(
      received[0]?.data.supersedes === undefined ? ['incident.opened'] : [],
    )
    expect(notifier.deliveryOf(resolved.alert_id, 'chn_a')?.state).toBe('delivered')
    expect(notifier.deliveryOf(opened.alert_id, 'chn_a')?.state).toMatch(/delivered|superseded/)
  })

  test('attempts deliveries that wait for a retry now, each once', async () => {
    const notifier = await startWithChannels(webhookChannel('chn_a', URL_A))
    const from = new Date(notifier.clock.now()).toISOString()
    notifier.state.reply = () => 500
    await notifier.publish(...alerts(notifier, 3))
    // The outage has lasted so long that each delivery waits for six hours.
    await notifier.clock.advance(4 * HOUR)
    const waiting = [...notifier.collections.deliveries.values()]
    expect(waiting.map(one => one.next_attempt?.topic)).toEqual(Array(3).fill('deliveries.retry.6h'))
    notifier.state.reply = () => 200
    notifier.requests.length = 0
    const to = new Date(notifier.clock.now()).toISOString()
    const command = { kind: 'replay_deliveries', replay_id: 'rpl_1', channel_id: 'chn_a', from, to } as const
    await notifier.command(command, command)
    await notifier.clock.advance(10 * 60_000)
    expect(notifier.collections.replays.get('rpl_1')).toMatchObject({ state: 'done', total: 3, requeued: 3 })
    expect(states(notifier).get('delivered')).toHaveLength(3)
    // The messages of the old retries come from their delay line and are skipped.
    await notifier.clock.advance(8 * HOUR)
    expect(notifier.requests).toHaveLength(3)
  })

  test('attempts deliveries that were due in a restored backup, whose messages were in the old Kafka', async () => {
    const notifier = await startWithChannels(webhookChannel('chn_a', URL_A))
    const from = new Date(notifier.clock.now()).toISOString()
    const lost = alerts(notifier, 3).map((one, index) => ({
      ...newDelivery(
        { delivery_id: `dlv_${index}`, project_id: PROJECT, channel_id: 'chn_a', attempt: 1, test: false, alert: one },
        'webhook',
        notifier.clock.now(),
      ),
    }))
    for (const one of lost) notifier.collections.deliveries.set(one._id, one)
    await notifier.clock.advance(HOUR)
    expect(notifier.requests).toEqual([])
    const to = new Date(notifier.clock.now()).toISOString()
    await notifier.command({ kind: 'replay_deliveries', replay_id: 'rpl_1', channel_id: 'chn_a', from, to })
    await notifier.clock.advance(5_000)
    expect(notifier.collections.replays.get('rpl_1')).toMatchObject({ state: 'done', total: 3, requeued: 3 })
    expect(states(notifier).get('delivered')).toHaveLength(3)
    expect(notifier.requests).toHaveLength(3)
  })

  test('skips deliveries outside its window', async () => {
    const { notifier, command } = await recovered(20)
    await notifier.command({ ...command, to: command.from, from: '2020-01-01T00:00:00.000Z' })
    await notifier.clock.advance(10_000)
    expect(notifier.collections.replays.get('rpl_1')).toMatchObject({ state: 'done', total: 0, requeued: 0 })
    expect(notifier.requests).toEqual([])
  })
})

describe('enabling a channel', () => {
  test('clears its failures, resolves its incident and delivers alerts to it again', async () => {
    const notifier = await startWithChannels(webhookChannel('chn_a', URL_A), webhookChannel('chn_b', URL_B))
    notifier.state.reply = request => (request.url === URL_A ? 410 : 200)
    await notifier.publish(...alerts(notifier, 1))
    await notifier.clock.advance(1_000)
    const incidentId = notifier.collections.channelHealth.get('chn_a')?.disabled_incident_id
    notifier.state.reply = () => 200
    const command = { kind: 'enable_channel', channel_id: 'chn_a' } as const
    await notifier.command(command, command)
    await notifier.clock.advance(1_000)
    expect(notifier.collections.channelHealth.get('chn_a')).toMatchObject({
      disabled_at: null,
      disabled_reason: null,
      failing_since: null,
      outbox: [],
    })
    const received = (await notifier.commands()).filter(command => 'incident_id' in command)
    expect(received).toMatchObject([
      { kind: 'open_channel_incident', incident_id: incidentId },
      { kind: 'resolve_channel_incident', incident_id: incidentId },
    ])
    await notifier.publish(...alerts(notifier, 1, 'later'))
    await notifier.clock.advance(1_000)
    expect(notifier.deliveryOf('later_0', 'chn_a')?.state).toBe('delivered')
  })
})

describe('a paused channel', () => {
  /** A channel whose receiver asked for a pause of fifty minutes, with one waiting delivery. */
  async function leftAlone() {
    const notifier = await startWithChannels(webhookChannel('chn_a', URL_A))
    notifier.state.reply = () => ({ status: 429, headers: { 'retry-after': '3000' } })
    await notifier.publish(...alerts(notifier, 1))
    await notifier.clock.advance(1_000)
    notifier.state.reply = () => 200
    return notifier
  }

  test('is attempted by a manual retry, and gets the other messages after its success', async () => {
    const notifier = await leftAlone()
    await notifier.publish(...alerts(notifier, 1, 'held'))
    await notifier.clock.advance(1_000)
    expect(notifier.requests).toHaveLength(1)
    await notifier.command({ kind: 'retry_delivery', delivery_id: idOf(notifier, 'alr_0') })
    await notifier.clock.advance(100)
    expect(notifier.deliveryOf('alr_0', 'chn_a')?.state).toBe('delivered')
    await notifier.publish(...alerts(notifier, 1, 'later'))
    await notifier.clock.advance(100)
    expect(notifier.deliveryOf('later_0', 'chn_a')?.state).toBe('delivered')
  })

  test('is so for a replay too', async () => {
    const notifier = await leftAlone()
    const dead = notifier.deliveryOf('alr_0', 'chn_a') as DeliveryDocument
    notifier.collections.deliveries.set(dead._id, { ...dead, state: 'dead', next_attempt: null })
    const window = { from: '2026-11-01T00:00:00.000Z', to: '2026-12-01T00:00:00.000Z' }
    await notifier.command({ kind: 'replay_deliveries', replay_id: 'rpl_1', channel_id: 'chn_a', ...window })
    await notifier.clock.advance(5_000)
    expect(notifier.requests).toHaveLength(1)
  })

  test('is attempted again within two seconds of a change of it, wherever it is delivered from', async () => {
    const notifier = await leftAlone()
    await notifier.start()
    await notifier.clock.advance(1_000)
    const changed = webhookChannel('chn_a', URL_B, undefined, { version: 2 })
    notifier.collections.channels.set('chn_a', changed)
    await notifier.clock.advance(2_000)
    await notifier.publish(...alerts(notifier, 1, 'later'))
    await notifier.clock.advance(100)
    expect(notifier.requests.at(-1)?.url).toBe(URL_B)
    expect(notifier.deliveryOf('later_0', 'chn_a')?.state).toBe('delivered')
  })
})

test('addresses are suppressed, allowed again and counted as they are reported', async () => {
  const notifier = await startWithChannels()
  const bounce = { kind: 'soft_bounce', address: 'soft@example.com', detail: '452' } as const
  await notifier.command(
    { kind: 'suppress_address', address: 'A@example.com', reason: 'complaint', detail: null },
    { kind: 'suppress_address', address: 'b@example.com', reason: 'unsubscribed', detail: null },
    { kind: 'unsuppress_address', address: 'B@example.com' },
    bounce,
    bounce,
  )
  const reasons = () => new Map([...notifier.collections.suppressions].map(([id, { reason }]) => [id, reason]))
  expect(reasons()).toEqual(
    new Map([
      [`${PROJECT}/a@example.com`, 'complaint'],
      [`${PROJECT}/soft@example.com`, null],
    ]),
  )
  for (let count = 0; count < 4; count++) {
    await notifier.clock.advance(HOUR)
    await notifier.command(bounce)
  }
  expect(reasons().get(`${PROJECT}/soft@example.com`)).toBe('soft_bounces')
  expect(JSON.stringify(notifier.log)).not.toContain('@example.com')
})

test('commands to other services are skipped, and invalid messages are dead-lettered', async () => {
  const notifier = await startWithChannels()
  await notifier.command({ kind: 'resolve_channel_incident', incident_id: 'inc_1', channel_id: 'chn_a' })
  const producer = notifier.bus.another().producer({ sendTimeoutMs: 1_000 })
  await producer.send([{ topic: 'commands', key: 'x', value: Buffer.from('nonsense'), headers: {} }])
  await notifier.clock.advance(1_000)
  expect(notifier.bus.stored('deliveries.dead')).toHaveLength(1)
  expect(notifier.log.filter(line => line.msg === 'command.done')).toEqual([])
})

test('a dead letter that was sent again is marked, once its command arrives', async () => {
  const notifier = await startWithChannels()
  const producer = notifier.bus.another().producer({ sendTimeoutMs: 1_000 })
  await producer.send([{ topic: 'alerts', key: 'x', value: Buffer.from('nonsense'), headers: {} }])
  await notifier.clock.advance(1_000)
  const [letter] = [...notifier.collections.deadLetters.values()]
  if (letter === undefined) throw new Error('There is one')
  const dead_letters = [{ dead_letter_id: letter._id, parked_at: letter.parked_at.toISOString() }]
  await notifier.command({ kind: 'mark_replayed', dead_letters })
  await notifier.clock.advance(1_000)
  expect(notifier.collections.deadLetters.get(letter._id)?.replayed_at).toBeInstanceOf(Date)
})

test('erasing a person erases the recorded deliveries about the actions, and counts them until the last command', async () => {
  const notifier = await startWithChannels(webhookChannel('chn_a', URL_A, undefined, { shows_personal_data: true }))
  const opened = alert({ id: 'alr_0', at: new Date(notifier.clock.now()).toISOString() })
  if (opened.event !== 'incident.opened') throw new Error('The alert is of another event')
  const customer = { id: 'cus_1', name: 'Canary Customer', email: 'canary@example.com' }
  const shown = action({ project_id: PROJECT, action_id: 'act_1', customer })
  await notifier.publish({ ...opened, data: { ...opened.data, action: shown } })
  await notifier.clock.advance(1_000)
  const stored = () => JSON.stringify(notifier.deliveryOf('alr_0', 'chn_a'))
  expect(stored()).toContain('Canary Customer')
  const erase = { kind: 'erase_person' as const, erasure_id: 'era_1', customer_ids: ['cus_1'] }
  for (let repeats = 0; repeats < 2; repeats++) {
    await notifier.command({ ...erase, action_ids: ['act_1'], is_last: false })
    await notifier.clock.advance(1_000)
    expect(stored()).not.toMatch(/canary/i)
    const progress = { project_id: PROJECT, deliveries: 1, finished_at: null }
    expect(notifier.collections.deliveryErasures.get('era_1')).toMatchObject(progress)
  }
  await notifier.command({ ...erase, action_ids: [], is_last: true })
  await notifier.clock.advance(1_000)
  expect(notifier.collections.deliveryErasures.get('era_1')?.finished_at).toBeInstanceOf(Date)
})

test('after a person was erased, a retry and an alert that waited in Kafka are sent and recorded without the data', async () => {
  const notifier = await startWithChannels(webhookChannel('chn_a', URL_A, undefined, { shows_personal_data: true }))
  const at = new Date(notifier.clock.now())
  const project = { _id: PROJECT, name: 'Acme', branding: {}, version: 1, created_at: at, updated_at: at }
  notifier.collections.projects.set(PROJECT, project)
  const customer = { id: 'cus_1', name: 'Canary Customer', email: 'canary@example.com' }
  const alertOf = (id: string, actionId: string) => {
    const opened = alert({ id, at: at.toISOString() })
    if (opened.event !== 'incident.opened') throw new Error('The alert is of another event')
    return {
      ...opened,
      data: { ...opened.data, action: action({ project_id: PROJECT, action_id: actionId, customer }) },
    }
  }
  notifier.state.reply = () => (notifier.requests.length === 1 ? 500 : 200)
  await notifier.publish(alertOf('alr_retried', 'act_1'))
  await notifier.clock.advance(1_000)
  const erase = { kind: 'erase_person' as const, erasure_id: 'era_1', customer_ids: ['cus_1'] }
  await notifier.command({ ...erase, action_ids: ['act_1', 'act_2'], is_last: false })
  await notifier.clock.advance(3_000)
  await notifier.publish(alertOf('alr_late', 'act_2'), alertOf('alr_other', 'act_3'))
  await notifier.clock.advance(10_000)
  const sent = notifier.requests.map(({ body }) => /canary/i.test(String(body)))
  expect(sent.toSorted()).toEqual([false, false, true, true])
  const stored = (id: string) => /canary/i.test(JSON.stringify(notifier.deliveryOf(id, 'chn_a')))
  expect(['alr_retried', 'alr_late', 'alr_other'].map(stored)).toEqual([false, false, true])
})
