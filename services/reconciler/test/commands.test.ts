/** Commands to the reconciler, on virtual time. */
import type { ActionDocument, Command, ConnectionDocument } from '@backstop/contracts'
import { createConsumerMetrics } from '@backstop/kit/consume'
import { createLogger } from '@backstop/kit/logger'
import { createMetrics } from '@backstop/kit/ops'
import { createFixedCodec, createManualClock, createMemoryBus } from '@backstop/kit/test'
import { openMemoryBooks } from '@backstop/ledger/test'
import { PROJECT } from '@backstop/verdict/test'
import { expect, test } from 'vitest'
import { createCommandConsumer } from '../src/commands/command-consumer.ts'
import { createHeldHints } from '../src/reading/held-hints.ts'
import { inboxEntry } from './inbox-entries.ts'
import { createMemoryStores } from './memory-stores/memory-store.ts'

const codec = createFixedCodec()

async function harness() {
  const clock = createManualClock()
  const bus = createMemoryBus({ clock, partitions: 1 })
  const producer = bus.producer({ sendTimeoutMs: 1_000 })
  await producer.start()
  const stores = createMemoryStores()
  const { ledger } = openMemoryBooks({ announce: () => {} })
  const consumer = createCommandConsumer({
    bus,
    producer,
    codec,
    clock,
    logger: createLogger('test', 'fatal'),
    metrics: createConsumerMetrics(createMetrics('test')),
    incidents: { open: async () => 'opened', resolve: async () => 'resolved' },
    ledger,
    connections: stores.connections,
    heldHints: createHeldHints({ inbox: stores.inbox, producer, codec, clock }),
    expectedChanges: { apply: async () => 'nothing_open' },
    inboxReplayer: { begin: async () => 'begun' },
    incidentChanger: { change: async () => [] },
    bulkChanger: { begin: async () => 'begun' },
    sweeps: stores.sweeps,
    archivedActions: stores.archivedActions,
    totals: stores.totals,
    onFatal: error => {
      throw error
    },
  })
  await consumer.start()
  const send = async (command: object) => {
    const common = { command_id: 'cmd_1', project_id: PROJECT, requested_at: new Date(clock.now()).toISOString() }
    const value = codec.encode('command', { ...common, ...command } as Command)
    await producer.send([{ topic: 'commands', key: 'x', value, headers: {} }])
    await clock.advance(1_000)
  }
  return { clock, bus, stores, ledger, send, stop: () => consumer.stop() }
}

const CONNECTION = { _id: 'con_1', project_id: PROJECT, kind: 'reseller' as const, site: null }
const refund = (state: 'awaiting_review' | 'completed') => ({
  connection_id: 'con_1',
  kind: 'refund' as const,
  subject: 'txn_1',
  amount: 2499,
  currency: 'usd',
  state,
})

test("an operation gets the provider's outcome once, and the id of its object", async () => {
  const { ledger, clock, send, stop } = await harness()
  const { operation } = await ledger.record(refund('awaiting_review'), CONNECTION, clock.now())
  const id = operation.operation_id
  const settle = {
    kind: 'settle_operation',
    operation_id: id,
    to: 'completed',
    provider_ref: 'adj_1',
    reason: 'Approved',
  }
  await send(settle)
  await send(settle)
  expect(await ledger.get(id)).toMatchObject({
    state: 'completed',
    provider_ref: 'adj_1',
    reason: 'Approved',
    version: 2,
  })
  await stop()
})

test('a reported outcome is kept, and an unknown operation does not stop the consumer', async () => {
  const { ledger, clock, send, bus, stop } = await harness()
  const { operation } = await ledger.record(refund('completed'), CONNECTION, clock.now())
  const settle = { kind: 'settle_operation', to: 'rejected', provider_ref: null, reason: 'Declined' }
  await send({ ...settle, operation_id: operation.operation_id })
  await send({ ...settle, operation_id: 'op_none' })
  expect(await ledger.get(operation.operation_id)).toMatchObject({ state: 'completed', version: 1 })
  expect(bus.stored('inbound.dead')).toEqual([])
  await stop()
})

test('a connection that became readable requests its held hints, and its sweep is due', async () => {
  const { stores, send, bus, stop } = await harness()
  const connection = { ...CONNECTION, kind: 'subscription', site: 'acme', status: 'active', read_key: {} }
  stores.contents.connections.set('con_1', connection as unknown as ConnectionDocument)
  const event = { connection_id: 'con_1', provider: 'subscription', event_type: 'payment_refunded' } as const
  const body = { id: 'ev_1', content: { transaction: { id: 'txn_1' } } }
  await stores.inbox.insert([inboxEntry('ev_1', { ...event, outcome: 'held' }, JSON.stringify(body))])
  await send({ kind: 'connection_ready', connection_id: 'con_1' })
  await send({ kind: 'connection_ready', connection_id: 'con_1' })
  const asked = await Promise.all(bus.stored('rereads').map(({ value }) => codec.decode('reread', value)))
  expect(asked).toMatchObject([{ reason: 'hint', targets: [{ id: 'txn_1' }, { type: 'event', id: 'ev_1' }] }])
  await stop()
})

test('an archived action is removed from the list, and its day is counted again, also after a repeat', async () => {
  const { stores, send, stop } = await harness()
  const actions = stores.mongo.db.collection<ActionDocument>('actions')
  const first_seen = new Date('2024-01-05T10:00:00Z')
  const old = { project_id: PROJECT, connection_id: 'con_1', verdict: 'explained', incident_id: null, version: 2 }
  const facts = { provider_created_at: first_seen.toISOString(), first_seen, event_ids: ['evt_1'], timeline: [] }
  await actions.insertOne({ ...old, ...facts, _id: 'act_1' } as object as ActionDocument)
  const archive = (version: number) =>
    send({ kind: 'archive_actions', archive_id: 'arc_1', actions: [{ action_id: 'act_1', version }] })
  const marks = () => stores.contents.dailyTotals.get('con_1/2024-01-05')?.marks
  await archive(1)
  expect([await actions.countDocuments(), marks()]).toEqual([1, undefined])
  await archive(2)
  expect([await actions.countDocuments(), marks()]).toEqual([0, 1])
  // A crash may have come before the mark.
  stores.contents.dailyTotals.clear()
  await archive(2)
  expect(marks()).toBe(1)
  await stop()
})
