/** Tests that killed clients of live streams resume across a killed admin-api, as processes over MongoDB. */
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { type ActionDocument, newId } from '@backstop/contracts'
import { nodeEnvironment, type TestStack, until } from '@backstop/kit/test'
import { provisionTestStack } from '@backstop/provision/test'
import { MongoClient } from 'mongodb'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type EventClient, openEvents } from './event-client.ts'
import type { ReceivedEvent } from './event-parser.ts'

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const KEY = 'chosen-by-the-operator-0123456789'
let stack: TestStack
let client: MongoClient
const running: ChildProcess[] = []

beforeAll(async () => {
  stack = await provisionTestStack()
  client = new MongoClient(stack.mongoUrl.reveal(), { writeConcern: { w: 'majority' } })
})
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL')
})
afterAll(async () => {
  await client.close()
  await stack.close()
})

/** Starts admin-api. @returns its URL once it answers */
async function startAdmin(): Promise<{ url: string; kill: () => void }> {
  let output = ''
  const environment = {
    ...nodeEnvironment(),
    PORT: '0',
    KAFKA_BROKERS: stack.kafkaBrokers.join(','),
    KAFKA_TOPIC_PREFIX: stack.topicPrefix,
    MONGO_URL: stack.mongoUrl.reveal(),
    MONGO_DB: stack.dbName,
    SCHEMA_REGISTRY_URL: stack.registryUrl,
    INGRESS_PUBLIC_URL: 'https://in.example.test',
    SECRET_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
    BOOTSTRAP_API_KEY: KEY,
  }
  const child = spawn(process.execPath, [MAIN], { env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  running.push(child)
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk))
  const seen = () => output.slice(-2_000)
  const port = await until('the process to listen', () => /"port":(\d+).*service\.started/.exec(output)?.[1], {
    seen,
    timeoutMs: 40_000,
  })
  const url = `http://127.0.0.1:${port}`
  const headers = { authorization: `Bearer ${KEY}` }
  await until('the key', async () => (await fetch(`${url}/v1/projects`, { headers })).status === 200, { seen })
  return { url, kill: () => void child.kill('SIGKILL') }
}

function actionOf(number: number): ActionDocument {
  const at = new Date()
  const iso = at.toISOString()
  return {
    _id: newId('action'),
    project_id: 'prj_live',
    connection_id: 'con_live',
    connection_ids: ['con_live'],
    provider: 'processor',
    kind: 'refund',
    subject: `pi_${number}`,
    provider_ref: `re_${number}`,
    amount: number,
    currency: 'eur',
    state: 'succeeded',
    provider_created_at: iso,
    first_seen_at: iso,
    second_look_at: null,
    verdict: 'pending',
    reason: 'awaiting_second_look',
    operation_id: null,
    incident_id: null,
    event_ids: [],
    timeline: [],
    version: 1,
    first_seen: at,
  }
}

test('killed clients of a killed and restarted admin-api resume, and get every action once in the order of the changes', async () => {
  const actions = client.db(stack.dbName).collection<ActionDocument>('actions')
  const received: ReceivedEvent[] = []
  const written: string[] = []
  let isWriting = true
  const write = async () => {
    for (let number = 0; isWriting; number++) {
      const action = actionOf(number)
      await actions.insertOne(action)
      written.push(action._id)
    }
  }
  let admin = await startAdmin()
  const connect = async (): Promise<EventClient> => {
    const after = received.at(-1)?.id
    const stream = await openEvents(admin.url, KEY, { projectId: 'prj_live', after })
    await until('the stream to begin', () => stream.received.length > 0)
    return stream
  }
  const note = (stream: EventClient) => void received.push(...stream.received)
  const untilMore = (stream: EventClient, count: number) =>
    until(`${count} events`, () => stream.events().length >= count, { timeoutMs: 30_000 })

  let stream = await connect()
  const writing = write()
  await untilMore(stream, 30)
  // The client is killed, changes are missed, and it comes back.
  stream.kill()
  await stream.ended
  note(stream)
  stream = await connect()
  await untilMore(stream, 30)
  // admin-api is killed while it sends, and the client is killed before the next admin-api starts.
  admin.kill()
  await stream.ended
  stream.kill()
  note(stream)
  admin = await startAdmin()
  stream = await connect()
  await untilMore(stream, 30)
  isWriting = false
  await writing
  await until('all events', () => stream.events().at(-1)?.data.action_id === written.at(-1), { timeoutMs: 30_000 })
  stream.kill()
  note(stream)

  const events = received.filter(({ type }) => type !== 'heartbeat')
  expect(events.map(({ type }) => type)).not.toContain('reset')
  expect(events.map(({ data }) => data.action_id)).toEqual(written)
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length)
})
