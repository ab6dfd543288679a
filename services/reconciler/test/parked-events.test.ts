/** Unusable events, through the whole reconciler in memory: dead-lettered once, and listed in the inbox. */

import { frame, HEADERS, type InboundEvent } from '@backstop/contracts'
import { unavailable } from '@backstop/kit/errors'
import { createFixedCodec } from '@backstop/kit/test'
import { PROJECT, T0 } from '@backstop/verdict/test'
import { afterEach, expect, test } from 'vitest'
import { connectionOf } from './connection-of.ts'
import { startMemoryReconciler } from './memory-reconciler.ts'

const codec = createFixedCodec()
const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

async function harness() {
  let isInboxDown = false
  const { clock, contents, publish, dead, stop } = await startMemoryReconciler('con_1', inbox => ({
    async insert(entries) {
      if (isInboxDown) throw unavailable('MongoDB', undefined)
      await inbox.insert(entries)
    },
  }))
  stops.push(stop)
  const send = async (value: Buffer) => {
    await publish([value])
    await clock.advance(1_000)
  }
  const event = (body: InboundEvent['body'], more: Partial<InboundEvent> = {}): InboundEvent => ({
    provider: 'processor',
    project_id: PROJECT,
    connection_id: 'con_1',
    event_id: 'evt_1',
    event_type: 'refund.created',
    received_at: new Date(clock.now()).toISOString(),
    body,
    ...more,
  })
  return {
    clock,
    send,
    event,
    deleteConnection: () =>
      contents.connections.set(
        'con_1',
        connectionOf('con_1', { status: 'deleted', deleted_at: new Date(clock.now()) }),
      ),
    inbox: () => [...contents.inbox.values()],
    actions: () => [...contents.actions.values()],
    dead,
    setInboxDown: (isDown: boolean) => {
      isInboxDown = isDown
    },
  }
}

const MALFORMED = { id: 'evt_1', type: 'refund.created', data: {} }
const REFUND = { id: 're_1', object: 'refund', amount: 2499, currency: 'eur', charge: 'ch_1', status: 'succeeded' }
const SOUND = {
  ...{ id: 'evt_1', object: 'event', type: 'refund.created', created: T0 / 1000, livemode: true },
  data: { object: { ...REFUND, payment_intent: 'pi_1', created: T0 / 1000 } },
}

test('a malformed event is dead-lettered, and listed in the inbox with the reason and its body', async () => {
  const { send, event, inbox, dead } = await harness()
  await send(codec.encode('inbound-event', event(MALFORMED)))
  expect(dead()).toHaveLength(1)
  expect(inbox()).toMatchObject([
    {
      document: {
        _id: 'con_1/evt_1',
        outcome: 'parked',
        reason: expect.stringContaining('Event evt_1 of type refund.created is malformed'),
        action_ids: [],
      },
      body: JSON.stringify(MALFORMED),
    },
  ])
})

test('a malformed event is listed without its body after its connection was deleted', async () => {
  const { send, event, inbox, deleteConnection } = await harness()
  deleteConnection()
  await send(codec.encode('inbound-event', event(MALFORMED)))
  expect(inbox()).toMatchObject([{ document: { _id: 'con_1/evt_1', outcome: 'parked' }, body: null }])
})

test('a malformed event that is repeated is not dead-lettered a second time', async () => {
  const { send, event, inbox, dead } = await harness()
  await send(codec.encode('inbound-event', event(MALFORMED)))
  await send(codec.encode('inbound-event', event(MALFORMED)))
  expect(dead()).toHaveLength(1)
  expect(inbox()).toHaveLength(1)
})

test('a dead-lettered event that is sent again when it is usable is judged once', async () => {
  const { send, event, inbox, dead, actions } = await harness()
  await send(codec.encode('inbound-event', event(MALFORMED)))
  const sound = codec.encode('inbound-event', event(SOUND))
  await send(sound)
  await send(sound)
  expect(actions()).toHaveLength(1)
  expect(inbox()).toMatchObject([{ document: { outcome: 'recorded', action_ids: [actions()[0]?.action_id] } }])
  expect(dead()).toHaveLength(1)
})

test('a message that cannot be decoded is listed as dead-lettered if it names its event, and only dead-lettered otherwise', async () => {
  const { send, event, inbox, dead } = await harness()
  const unknownSchema = frame(9_999, JSON.stringify(event({ id: 'evt_1' })))
  const otherShape = frame(
    codec.schemaId('inbound-event'),
    JSON.stringify(event('text' as never, { event_id: 'evt_2' })),
  )
  await send(unknownSchema)
  await send(otherShape)
  await send(Buffer.from('no frame at all'))
  await send(unknownSchema)
  expect(dead().map(({ headers }) => headers[HEADERS.errorCode])).toEqual(Array(3).fill('message_invalid'))
  expect(inbox().map(({ document, body }) => [document._id, document.outcome, document.reason, body])).toEqual([
    ['con_1/evt_1', 'parked', 'Schema 9999 is not in the schema registry', '{"id":"evt_1"}'],
    ['con_1/evt_2', 'parked', expect.stringContaining('The message is not a valid inbound-event'), '{}'],
  ])
})

test('an inbox entry that cannot be written keeps the event unacknowledged, after its dead letter was sent', async () => {
  const { clock, send, event, inbox, dead, setInboxDown } = await harness()
  setInboxDown(true)
  await send(codec.encode('inbound-event', event(MALFORMED)))
  expect(dead().length).toBeGreaterThan(0)
  expect(inbox()).toEqual([])
  setInboxDown(false)
  await clock.advance(30_000)
  expect(inbox()).toMatchObject([{ document: { outcome: 'parked' } }])
})
