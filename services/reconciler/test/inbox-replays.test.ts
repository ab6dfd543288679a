/** Replays of the inbox, through the whole reconciler in memory. */

import { frame, type InboundEvent, type InboxReplayDocument } from '@backstop/contracts'
import { createFixedCodec } from '@backstop/kit/test'
import { PROJECT, T0 } from '@backstop/verdict/test'
import { afterEach, expect, test } from 'vitest'
import { startMemoryReconciler } from './memory-reconciler.ts'

const codec = createFixedCodec()
const MINUTE = 60_000
const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

function refundEvent(id: string, more: Partial<InboundEvent> = {}): InboundEvent {
  const object = {
    ...{ id: `re_${id}`, object: 'refund', amount: 2499, currency: 'eur', charge: `ch_${id}`, status: 'succeeded' },
    ...{ payment_intent: `pi_${id}`, created: T0 / 1000 },
  }
  return {
    provider: 'processor',
    project_id: PROJECT,
    connection_id: 'con_1',
    event_id: `evt_${id}`,
    event_type: 'refund.created',
    received_at: new Date(T0).toISOString(),
    body: {
      ...{ id: `evt_${id}`, object: 'event', type: 'refund.created', created: T0 / 1000, livemode: true },
      data: { object },
    },
    ...more,
  }
}

async function harness() {
  const reconciler = await startMemoryReconciler('con_1')
  const { clock, contents, publish, command, stop } = reconciler
  stops.push(stop)
  const send = async (...values: Buffer[]) => {
    await publish(values)
    await clock.advance(1_000)
  }
  /** Replays a window that contains every event, unless the events are named. */
  const replay = async (replay_id: string, more: { event_ids?: string[]; outcome?: 'parked' } = {}) => {
    const { event_ids = null, outcome = null } = more
    const times = event_ids === null ? ['2020-01-01T00:00:00.000Z', '2030-01-01T00:00:00.000Z'] : [null, null]
    const [from = null, to = null] = times
    const common = { command_id: `cmd_${replay_id}`, project_id: PROJECT, requested_at: new Date(T0).toISOString() }
    const selection = { connection_id: 'con_1', event_ids, from, to, outcome }
    await command([{ ...common, kind: 'replay_inbox', replay_id, ...selection }])
    await clock.advance(5_000)
    return contents.inboxReplays.get(replay_id) as InboxReplayDocument
  }
  return {
    ...reconciler,
    send,
    replay,
    entry: (id: string) => contents.inbox.get(`con_1/evt_${id}`),
    actions: () => [...contents.actions.values()],
    incidents: () => [...contents.incidents.values()],
  }
}

/** An event whose schema was not in the registry when it arrived. */
const withBrokenSchema = (event: InboundEvent) => frame(9_999, JSON.stringify(event))

test('an event that was dead-lettered while its schema was unknown gets its verdict from a replay', async () => {
  const { clock, send, replay, entry, actions, incidents, alerts, dead } = await harness()
  await send(withBrokenSchema(refundEvent('a')))
  expect(entry('a')?.document.outcome).toBe('parked')
  expect(await replay('rpl_1', { event_ids: ['evt_a'] })).toMatchObject({ state: 'done', total: 1, replayed: 1 })
  const [action] = actions()
  const decided = { outcome: 'recorded', action_ids: [action?.action_id], replay_id: 'rpl_1' }
  expect(entry('a')?.document).toMatchObject(decided)
  await clock.advance(2 * MINUTE)
  expect(incidents()).toMatchObject([{ code: 'UNEXPECTED_ACTION', action_id: action?.action_id }])
  expect(await alerts()).toHaveLength(1)
  expect(dead()).toHaveLength(1)
})

test('a replay of an alerted event changes neither the verdict nor the incident, and sends no alert', async () => {
  const { clock, send, replay, entry, actions, incidents, alerts } = await harness()
  await send(codec.encode('inbound-event', refundEvent('a')))
  await clock.advance(2 * MINUTE)
  const before = structuredClone({ actions: actions(), incidents: incidents() })
  expect(await alerts()).toHaveLength(1)
  const { action_ids } = entry('a')?.document ?? {}
  expect(await replay('rpl_1')).toMatchObject({ state: 'done', replayed: 1 })
  expect(await replay('rpl_2')).toMatchObject({ state: 'done', replayed: 1 })
  await clock.advance(10 * MINUTE)
  expect({ actions: actions(), incidents: incidents() }).toEqual(before)
  expect(await alerts()).toHaveLength(1)
  expect(entry('a')?.document).toMatchObject({ outcome: 'recorded', action_ids, replay_id: 'rpl_2' })
})

test('a replay of a window sends every page once, also if its command is repeated', async () => {
  const { clock, send, replay, actions, contents } = await harness()
  const events = Array.from({ length: 250 }, (_, index) => refundEvent(`${index}`))
  await send(...events.map(withBrokenSchema))
  await clock.advance(MINUTE)
  await replay('rpl_1')
  expect(await replay('rpl_1')).toMatchObject({
    state: 'done',
    total: 250,
    replayed: 250,
    finished_at: expect.any(Date),
  })
  expect(actions()).toHaveLength(250)
  expect(new Set([...contents.inbox.values()].map(({ document }) => document.outcome))).toEqual(new Set(['recorded']))
})

test('a page that was sent before a crash is sent again, and changes nothing', async () => {
  const { clock, send, replay, entry, actions, incidents, alerts, contents } = await harness()
  await send(withBrokenSchema(refundEvent('a')))
  const done = await replay('rpl_1')
  await clock.advance(2 * MINUTE)
  const before = structuredClone({ actions: actions(), incidents: incidents(), entry: entry('a')?.document.action_ids })
  // The process ended after Kafka had the page, and before its progress was stored.
  contents.inboxReplays.set('rpl_1', { ...done, state: 'running', replayed: 0, cursor: null, finished_at: null })
  await clock.advance(10 * MINUTE)
  expect(contents.inboxReplays.get('rpl_1')).toMatchObject({ state: 'done', replayed: 1 })
  expect({ actions: actions(), incidents: incidents(), entry: entry('a')?.document.action_ids }).toEqual(before)
  expect(await alerts()).toHaveLength(1)
})

test('a replay skips events whose body was erased, and counts them', async () => {
  const { send, replay, contents, entry, actions } = await harness()
  await send(withBrokenSchema(refundEvent('a')), withBrokenSchema(refundEvent('b')))
  const erased = entry('a')
  if (erased === undefined) throw new Error('There is an entry')
  contents.inbox.set('con_1/evt_a', { ...erased, body: null })
  const result = { state: 'done', total: 2, replayed: 1, skipped_erased: 1, skipped_objects: 0 }
  expect(await replay('rpl_1')).toMatchObject(result)
  expect(entry('a')?.document.outcome).toBe('parked')
  expect(actions()).toHaveLength(1)
})

test('a replay of dead-lettered events leaves the others out', async () => {
  const { send, replay, entry } = await harness()
  await send(codec.encode('inbound-event', refundEvent('a')), withBrokenSchema(refundEvent('b')))
  expect(await replay('rpl_1', { outcome: 'parked' })).toMatchObject({ total: 1, replayed: 1 })
  expect(entry('a')?.document.replay_id).toBeUndefined()
  expect(entry('b')?.document).toMatchObject({ outcome: 'recorded', replay_id: 'rpl_1' })
})

test('an event that cannot be used in a replay either keeps its dead letter and shows the new reason', async () => {
  const { send, replay, entry, dead } = await harness()
  await send(withBrokenSchema(refundEvent('a', { body: { id: 'evt_a', type: 'refund.created', data: {} } })))
  expect(entry('a')?.document.reason).toContain('Schema 9999')
  await replay('rpl_1')
  const { outcome, reason, replay_id } = entry('a')?.document ?? {}
  expect({ outcome, replay_id }).toEqual({ outcome: 'parked', replay_id: 'rpl_1' })
  expect(reason).toContain('is malformed')
  expect(dead()).toHaveLength(1)
})
