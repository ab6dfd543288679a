/** Incidents of disabled channels, from the command to the alert, on real Kafka and MongoDB. */
import { type Command, type IncidentDocument, incidentAlertId } from '@backstop/contracts'
import type { Producer } from '@backstop/kit/bus'
import { systemClock } from '@backstop/kit/clock'
import { connectMongo, type Mongo } from '@backstop/kit/mongo'
import { createMetrics } from '@backstop/kit/ops'
import { createFixedCodec, readAll, type TestStack, testStack, until } from '@backstop/kit/test'
import { openMongoBooks } from '@backstop/ledger'
import { openRequestedIncident } from '@backstop/verdict'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApp, type ReconcilerApp } from '../src/app.ts'
import { openStores } from '../src/stores.ts'
import { createIndexes } from './create-indexes.ts'
import { readingPorts, TEST_SETTINGS } from './reading-ports.ts'

const codec = createFixedCodec()
const AT = '2026-11-21T10:00:00.000Z'
let stack: TestStack
let mongo: Mongo
let producer: Producer
let app: ReconcilerApp

beforeAll(async () => {
  stack = await testStack()
  await stack.createTopics(
    [
      'inbound.processor',
      'operations',
      'rechecks',
      'rechecks.due',
      'rechecks.unanswered',
      'rereads',
      'rereads.retry',
      'readbacks',
      'commands',
      'incidents',
      'alerts',
      'inbound.dead',
    ],
    1,
  )
  mongo = connectMongo({ url: stack.mongoUrl, dbName: stack.dbName, appName: 'test' })
  await createIndexes(mongo.db)
  producer = stack.bus().producer({ sendTimeoutMs: 10_000 })
  await producer.start()
  app = createApp(
    {
      bus: stack.bus(),
      codec,
      clock: systemClock,
      stores: openStores(mongo),
      openBooks: options => openMongoBooks(mongo.db, options),
      logger: stack.logger,
      metrics: createMetrics('reconciler'),
      ...readingPorts(stack.logger),
      onFatal: error => stack.logger.fatal({ error }, 'fatal'),
    },
    TEST_SETTINGS,
  )
  await app.start()
})
afterAll(async () => {
  await app?.stop()
  await producer?.stop()
  await mongo?.stop()
  await stack?.close()
})

const common = (name: string) => ({ command_id: `cmd_${name}`, project_id: 'prj_1', requested_at: AT })
const opens = (name: string) =>
  ({
    ...common(name),
    kind: 'open_channel_incident',
    incident_id: `inc_${name}`,
    channel_id: `chn_${name}`,
    channel_name: 'Ops',
    reason: 'The receiver answered 410 Gone',
  }) as const
const resolves = (name: string) =>
  ({
    ...common(`${name}_again`),
    kind: 'resolve_channel_incident',
    incident_id: `inc_${name}`,
    channel_id: `chn_${name}`,
  }) as const

async function command(...commands: Command[]): Promise<void> {
  await producer.send(
    commands.map(one => ({
      topic: 'commands' as const,
      key: 'chn_1',
      value: codec.encode('command', one),
      headers: {},
    })),
  )
}

const stored = (name: string) => mongo.db.collection<IncidentDocument>('incidents').findOne({ _id: `inc_${name}` })
const settledAs = (name: string, state: IncidentDocument['state']) =>
  until(`inc_${name} is ${state} and told`, async () => {
    const incident = await stored(name)
    return incident?.state === state && incident.outbox?.length === 0 && incident
  })

test('a disabled channel opens an incident and raises its alert; enabled again, it resolves it', async () => {
  await command(opens('a'), opens('a'))
  expect(await settledAs('a', 'open')).toMatchObject({
    code: 'CHANNEL_DISABLED',
    channel_id: 'chn_a',
    summary: 'The alert channel "Ops" was disabled: The receiver answered 410 Gone',
    version: 1,
  })
  await command(resolves('a'), resolves('a'), resolves('unknown'))
  expect(await settledAs('a', 'resolved')).toMatchObject({ version: 2, resolved_at: AT })
  const messages = await readAll(stack, 'alerts', all => all.length >= 2)
  const alerts = await Promise.all(messages.map(({ value }) => codec.decode('alert', value)))
  expect(alerts.map(({ alert_id, event }) => [alert_id, event])).toEqual([
    [incidentAlertId('inc_a', 'incident.opened'), 'incident.opened'],
    [incidentAlertId('inc_a', 'incident.resolved'), 'incident.resolved'],
  ])
  expect(alerts.map(alert => alert.project_id)).toEqual(['prj_1', 'prj_1'])
  expect(await stored('unknown')).toBeNull()
})

test('entries that were not published because of a crash are published with the next copy of the command', async () => {
  await openStores(mongo).standaloneIncidents.open(openRequestedIncident(opens('b'), Date.now()))
  expect((await stored('b'))?.outbox).toHaveLength(2)
  await command(opens('b'))
  await settledAs('b', 'open')
})

test('entries without a further command are published by the sweeper', async () => {
  await openStores(mongo).standaloneIncidents.open(openRequestedIncident(opens('c'), Date.now() - 31_000))
  await settledAs('c', 'open')
})
