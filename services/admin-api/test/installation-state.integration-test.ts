/** The state of the installation, read from a provisioned MongoDB. */
import { provisionTestStack } from '@backstop/provision/test'
import { type Document, MongoClient } from 'mongodb'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createInstallationReaders, type InstallationReaders } from '../src/installation/read-state.ts'
import type { InstallationState } from '../src/installation/rules/summarize.ts'

const NOW = Date.now()
const ago = (seconds: number) => new Date(NOW - seconds * 1000)
const iso = (seconds: number) => ago(seconds).toISOString()
/** HH:MM in UTC, so many seconds from now. */
const clockTime = (seconds: number) => iso(-seconds).slice(11, 16)

let client: MongoClient
let close: () => Promise<void>
let dbName: string

beforeAll(async () => {
  const stack = await provisionTestStack()
  client = new MongoClient(stack.mongoUrl.reveal(), { monitorCommands: true })
  dbName = stack.dbName
  close = stack.close
})
afterAll(async () => {
  await client?.close()
  await close?.()
})

/** Replaces the documents of a collection. */
async function insert(collection: string, documents: readonly Document[]): Promise<void> {
  const stored = client.db(dbName).collection(collection)
  await stored.deleteMany({})
  if (documents.length > 0) await stored.insertMany([...documents])
}

/** All parts, one after another. */
async function readState(): Promise<InstallationState> {
  const readers = createInstallationReaders(client.db(dbName))
  const parts: [string, unknown][] = []
  for (const name of Object.keys(readers) as (keyof InstallationReaders)[]) parts.push([name, await readers[name](NOW)])
  return Object.fromEntries(parts) as unknown as InstallationState
}

test('is empty at first', async () => {
  const state = await readState()
  expect(state).toMatchObject({
    undecided: { count: 0, overdue: 0, waiting: 0, oldestMs: 0 },
    uncomparedOperations: { oldestMs: 0 },
    incidents: [],
    stormsOpen: 0,
    connections: { counts: [], keyRejected: 0, silent: 0, sweepAgeMs: 0 },
    deadLetters: [{ topic: 'deliveries', count: 0 }],
    channels: [],
  })
  expect(state.outboxes.map(({ count }) => count)).toEqual([0, 0, 0, 0, 0, 0])
})

test('counts what waits, from the indexes of the large collections', async () => {
  const id = (prefix: string, index: number | string) => `${prefix}_${index}` as unknown as Document['_id']
  await insert('actions', [
    { _id: id('act', 1), verdict: 'pending', second_look_at: iso(-50), first_seen: ago(10) },
    { _id: id('act', 2), verdict: 'pending', second_look_at: iso(30), first_seen: ago(90) },
    { _id: id('act', 3), verdict: 'pending', second_look_at: null, first_seen: ago(5) },
    { _id: id('act', 4), verdict: 'pending', second_look_at: iso(900), first_seen: ago(960), merged_into: 'act_1' },
    { _id: id('act', 6), provider: 'subscription', verdict: 'pending', second_look_at: iso(40), first_seen: ago(80) },
    { _id: id('act', 5), verdict: 'unexplained', second_look_at: iso(900), first_seen: ago(960) },
  ])
  await insert('incidents', [
    { code: 'UNEXPECTED_ACTION', state: 'open', opened: ago(1) },
    { code: 'UNEXPECTED_ACTION', state: 'open', opened: ago(2) },
    { code: 'FEED_SILENT', state: 'acknowledged', opened: ago(3) },
    { code: 'FEED_SILENT', state: 'resolved', opened: ago(4) },
  ])
  await insert('storms', [
    { connection_id: 'con_1', state: 'open', began_at: ago(60) },
    { connection_id: 'con_1', state: 'ended', began_at: ago(600) },
  ])
  await insert('connections', [
    {
      _id: id('con', 1),
      kind: 'processor',
      status: 'active',
      read_key: { created_at: ago(9_000) },
      created_at: ago(9_000),
    },
    { _id: id('con', 2), kind: 'processor', status: 'deleted', read_key: null, created_at: ago(9_001) },
  ])
  await insert('sweeps', [
    {
      _id: id('con', 1),
      last_run_at: ago(10),
      last_error: 'It refuses the read key; make a new read-only key there and store it on the connection (401)',
      failing_since: ago(700),
      open_incidents: { FEED_SILENT: 'inc_1' },
      next_run_at: ago(-60),
    },
  ])
  await insert('dead_letters', [
    { topic: 'operations', parked_at: ago(1) },
    { topic: 'operations', parked_at: ago(3), replayed_at: null },
    { topic: 'operations', parked_at: ago(2), replayed_at: ago(1) },
  ])
  await insert('inbox', [
    {
      _id: id('con_1/evt', 1),
      event_id: 'evt_1',
      provider: 'reseller',
      outcome: 'parked',
      processed_at: ago(1),
      received_at: ago(1),
    },
    {
      _id: id('con_1/dlt', 1),
      event_id: 'dlt_1',
      provider: 'reseller',
      outcome: 'parked',
      processed_at: ago(1),
      received_at: ago(1),
    },
    {
      _id: id('con_1/evt', 2),
      event_id: 'evt_2',
      provider: 'reseller',
      outcome: 'recorded',
      processed_at: ago(1),
      received_at: ago(1),
    },
  ])
  await insert('deliveries', [
    { channel_id: 'chn_1', state: 'pending', test: false, created_at: ago(3) },
    { channel_id: 'chn_quiet', state: 'pending', test: false, created_at: ago(7_000) },
    { channel_id: 'chn_paused', state: 'pending', test: false, created_at: ago(600) },
    { channel_id: 'chn_deleted', state: 'dead', test: false, created_at: ago(70) },
    { state: 'retrying', test: false, created_at: ago(70) },
    { state: 'retrying', test: false, created_at: ago(80) },
    { state: 'dead', test: false, created_at: ago(90) },
    { state: 'dead', test: true, created_at: ago(90) },
    { state: 'delivered', test: false, created_at: ago(100) },
  ])
  await insert('channels', [
    { _id: id('chn', 1), enabled: true, config: { kind: 'webhook' }, deleted_at: null },
    {
      _id: id('chn', 'quiet'),
      enabled: true,
      config: { kind: 'webhook' },
      deleted_at: null,
      quiet_hours: { time_zone: 'UTC', from: clockTime(-3_600), to: clockTime(3_600), days: null },
    },
    { _id: id('chn', 'paused'), enabled: true, config: { kind: 'webhook' }, deleted_at: null },
    { _id: id('chn', 'deleted'), enabled: true, config: { kind: 'webhook' }, deleted_at: ago(60) },
  ])
  await insert('channel_health', [
    { _id: id('chn', 1), disabled_at: ago(5), failing_since: ago(500), outbox: [{ id: 'm', at: NOW - 4_000 }] },
    { _id: id('chn', 'paused'), held: { since: ago(600), until: ago(-600), reason: 'failing' } },
  ])
  await insert('subjects', [
    {
      current: [
        {
          refs: ['a'],
          outbox: [
            { id: 'm2', at: NOW - 2_000 },
            { id: 'm1', at: NOW - 7_000 },
          ],
        },
      ],
    },
    { current: [{ refs: ['b'], outbox: [] }] },
  ])
  await insert('operations', [
    {
      _id: id('op', 1),
      refs: ['r'],
      updated_at: iso(130),
      executing_at: iso(200),
      outbox: [{ id: 'm' }],
      outbox_at: ago(6),
    },
  ])

  const asked: Document[] = []
  const listen = (event: { command: Document }) => void asked.push(event.command)
  client.on('commandStarted', listen)
  const state = await readState()
  client.off('commandStarted', listen)

  expect(state.undecided).toEqual({ count: 4, overdue: 1, waiting: 1, oldestMs: 90_000 })
  expect(state.uncomparedOperations).toEqual({ oldestMs: 130_000 })
  expect(state.incidents).toHaveLength(2)
  expect(state.incidents).toContainEqual({ code: 'UNEXPECTED_ACTION', state: 'open', count: 2 })
  expect(state.incidents).toContainEqual({ code: 'FEED_SILENT', state: 'acknowledged', count: 1 })
  expect(state.stormsOpen).toBe(1)
  expect(state.connections).toEqual({
    counts: [{ provider: 'processor', status: 'active', count: 1 }],
    keyRejected: 1,
    unreadable: 1,
    silent: 1,
    sweepAgeMs: 700_000,
  })
  expect(state.deadLetters).toEqual([
    { topic: 'operations', count: 2 },
    { topic: 'inbound.reseller', count: 1 },
    { topic: 'deliveries', count: 1 },
  ])
  expect(state.deliveries).toEqual({
    pending: { count: 3, oldestMs: 3_000 },
    retrying: { count: 2, oldestMs: 80_000 },
    dead: { count: 2, oldestMs: 90_000 },
  })
  expect(state.channels).toEqual([
    { kind: 'webhook', state: 'disabled', count: 1 },
    { kind: 'webhook', state: 'ok', count: 2 },
  ])
  expect(state.outboxes.filter(({ count }) => count > 0)).toEqual([
    { collection: 'subjects', count: 1, oldestMs: 7_000 },
    { collection: 'operations', count: 1, oldestMs: 6_000 },
    { collection: 'channel_health', count: 1, oldestMs: 4_000 },
  ])
  expect(await collectionScans(asked)).toEqual([
    'connections',
    'sweeps',
    // The deleted channels, those with quiet hours, and the paused ones.
    'channels',
    'channels',
    'channel_health',
    'channels',
    'channel_health',
  ])
})

const positionOf = (seconds: number, operation_id: string) => ({ updated_at: iso(seconds), operation_id })

test.each([
  { name: 'no search has begun', position: null, oldestMs: 400_000 },
  { name: 'two operations wait', position: positionOf(400, 'op_1'), oldestMs: 300_000 },
  {
    name: 'one waits that changed at the time of the last compared',
    position: positionOf(300, 'op_2'),
    oldestMs: 300_000,
  },
  { name: 'all are compared', position: positionOf(300, 'op_3'), oldestMs: 0 },
])('knows the age of the oldest change that was not compared if $name', async ({ position, oldestMs }) => {
  const operation = (index: number, seconds: number, executing_at: string | null = iso(900)) => ({
    _id: `op_${index}` as unknown as Document['_id'],
    refs: [`r_${index}`],
    updated_at: iso(seconds),
    executing_at,
  })
  const wasNotSent = operation(4, 200, null)
  await insert('operations', [operation(3, 300), operation(2, 300), operation(1, 400), wasNotSent])
  const _id = 'changed' as unknown as Document['_id']
  await insert('operation_search', position === null ? [] : [{ _id, position, leased_until: null }])
  const { uncomparedOperations } = createInstallationReaders(client.db(dbName))
  expect(await uncomparedOperations(NOW)).toEqual({ oldestMs })
})

test('finds the oldest change that was not compared in the order of its index', async () => {
  const asked: Document[] = []
  const listen = (event: { command: Document }) => void asked.push(event.command)
  client.on('commandStarted', listen)
  await createInstallationReaders(client.db(dbName)).uncomparedOperations(NOW)
  client.off('commandStarted', listen)
  const { filter, sort, limit } = asked.find(({ find }) => find === 'operations') ?? {}
  const explain = { find: 'operations', filter, sort, limit }
  const plan = await client.db(dbName).command({ explain, verbosity: 'queryPlanner' })
  expect(JSON.stringify(plan.queryPlanner.winningPlan)).toContain('"indexName":"updated_at_1__id_1"')
})

/** The collections that the queries read without an index. */
async function collectionScans(commands: readonly Document[]): Promise<string[]> {
  const scanned: string[] = []
  for (const { aggregate, find, pipeline, filter, sort = {}, limit = 0 } of commands) {
    const query = find === undefined ? { aggregate, pipeline, cursor: {} } : { find, filter, sort, limit }
    const plan = JSON.stringify(await client.db(dbName).command({ explain: query, verbosity: 'queryPlanner' }))
    if (plan.includes('"COLLSCAN"')) scanned.push(find ?? aggregate)
  }
  return scanned
}
