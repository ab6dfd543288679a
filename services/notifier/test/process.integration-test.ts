/** Start, delivery with a real schema registry, probes and stop of the real process. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { ChannelDocument } from '@backstop/channels'
import { alert, webhookChannel } from '@backstop/channels/test'
import type { Alert } from '@backstop/contracts'
import { connectMongo } from '@backstop/kit/mongo'
import { listen } from '@backstop/kit/ops'
import { createMongoSchemaIds, createRegistryCodec } from '@backstop/kit/registry'
import { nodeEnvironment, startReceiver, type TestStack, until } from '@backstop/kit/test'
import { provisionTestStack } from '@backstop/provision/test'
import { afterAll, beforeAll, expect, test } from 'vitest'

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))
let stack: TestStack
const running: ChildProcess[] = []

beforeAll(async () => {
  stack = await provisionTestStack()
})
afterAll(async () => {
  for (const child of running) child.kill('SIGKILL')
  await stack.close()
})

function run(more: Record<string, string> = {}) {
  let output = ''
  const child = spawn(process.execPath, [MAIN], {
    env: {
      ...nodeEnvironment(),
      KAFKA_BROKERS: stack.kafkaBrokers.join(','),
      KAFKA_TOPIC_PREFIX: stack.topicPrefix,
      MONGO_URL: stack.mongoUrl.reveal(),
      MONGO_DB: stack.dbName,
      SCHEMA_REGISTRY_URL: stack.registryUrl,
      // The encryption key of the test fixtures.
      SECRET_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}`,
      EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
      SMTP_URL: 'smtp://user:canary-password@127.0.0.1:9',
      SMTP_FROM: 'alerts@example.com',
      ...more,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.push(child)
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', chunk => (output += chunk))
  const ended = new Promise<number | null>(resolve => child.once('exit', resolve))
  return { child, ended, output: () => output }
}

async function openAlerts(mongo: ReturnType<typeof connectMongo>) {
  const codec = await createRegistryCodec({
    registryUrl: stack.registryUrl,
    topicPrefix: stack.topicPrefix,
    schemaIds: createMongoSchemaIds(mongo.db),
    logger: stack.logger,
  })
  const producer = stack.bus().producer({ sendTimeoutMs: 10_000 })
  await producer.start()
  const send = (sent: Alert) =>
    producer.send([{ topic: 'alerts', key: sent.project_id, value: codec.encode('alert', sent), headers: {} }])
  return { send, stop: () => producer.stop() }
}

test('the process delivers, answers its probes, logs no secret and drains on SIGTERM', async () => {
  const receiver = await startReceiver()
  const mongo = connectMongo({ url: stack.mongoUrl, dbName: stack.dbName, appName: 'notifier-test' })
  const url = `${receiver.url}/canary-path`
  await mongo.db.collection<ChannelDocument>('channels').insertOne(webhookChannel('chn_1', url, 'canary-shared-secret'))
  const notifier = run()
  const port = await until('it to start', () => /"ops_port":(\d+)/.exec(notifier.output())?.[1], {
    seen: notifier.output,
  })
  const alerts = await openAlerts(mongo)
  await alerts.send(alert({ at: new Date().toISOString() }))
  await until('the receiver to have it', () => receiver.requests.length === 1, { seen: notifier.output })
  await until('its line', () => notifier.output().includes('delivery.attempted'))
  const probe = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`)
    return { status: response.status, text: await response.text() }
  }
  expect(await probe('/healthz')).toMatchObject({ status: 200 })
  expect(await probe('/readyz')).toMatchObject({ status: 200 })
  const { text } = await probe('/metrics')
  expect(text).toMatch(/delivery_attempts_total\{.*channel="webhook".*outcome="delivered".*\} 1/)
  expect(text).toMatch(/alert_e2e_latency_seconds_count\{.*channel="webhook".*\} 1/)
  notifier.child.kill('SIGTERM')
  expect(await notifier.ended).toBe(0)
  expect(notifier.output()).not.toContain('canary')
  await alerts.stop()
  await mongo.stop()
  await receiver.stop()
})

test('a process that is killed while a receiver has its request loses nothing: the next one repeats it with the same id and bytes, once', async () => {
  const receiver = await startReceiver(() => {})
  const mongo = connectMongo({ url: stack.mongoUrl, dbName: stack.dbName, appName: 'notifier-test' })
  await mongo.db.collection<ChannelDocument>('channels').insertOne({
    ...webhookChannel('chn_killed', receiver.url),
    project_id: 'prj_killed',
  })
  const alerts = await openAlerts(mongo)
  const doomed = run()
  await alerts.send({ ...alert({ id: 'alr_killed', at: new Date().toISOString() }), project_id: 'prj_killed' })
  await until('the receiver to have it', () => receiver.requests.length === 1, {
    timeoutMs: 30_000,
    seen: doomed.output,
  })
  doomed.child.kill('SIGKILL')
  await doomed.ended
  receiver.answer = (_request, response) => void response.writeHead(200).end('ok')
  const next = run()
  const deliveries = mongo.db.collection('deliveries')
  const isDelivered = { project_id: 'prj_killed', state: 'delivered' }
  await until('the delivery', async () => (await deliveries.countDocuments(isDelivered)) === 1, {
    timeoutMs: 60_000,
    seen: next.output,
  })
  const [first, second, ...more] = receiver.requests.map(({ headers, body }) => ({ id: headers['webhook-id'], body }))
  expect(second).toEqual(first)
  expect(more).toEqual([])
  next.child.kill('SIGTERM')
  expect(await next.ended).toBe(0)
  await alerts.stop()
  await mongo.stop()
  await receiver.stop()
})

test('a process with another key under the same id takes no messages, and /readyz says why', async () => {
  const mongo = connectMongo({ url: stack.mongoUrl, dbName: stack.dbName, appName: 'notifier-test' })
  const channels = mongo.db.collection<ChannelDocument>('channels')
  await channels.insertOne(webhookChannel('chn_sealed', 'http://127.0.0.1:9/', 'shared-secret'))
  const OPS_PORT = String(await freePort())
  const notifier = run({ SECRET_KEYS: `test:${Buffer.alloc(32, 8).toString('base64')}`, OPS_PORT })
  const readiness = async () => {
    const answer = await fetch(`http://127.0.0.1:${OPS_PORT}/readyz`).catch(() => undefined)
    return answer && { status: answer.status, text: await answer.text() }
  }
  await until('its reason', async () => (await readiness())?.text.startsWith('SECRET_KEYS has another key'), {
    seen: notifier.output,
  })
  expect(await readiness()).toMatchObject({ status: 503, text: expect.stringContaining('under the id "test"') })
  expect(notifier.output()).not.toContain('service.started')
  // Without secrets the keys are not wrong, and the process begins to work without a restart.
  await channels.deleteMany({})
  await until('it to start', () => notifier.output().includes('service.started'), { seen: notifier.output })
  notifier.child.kill('SIGTERM')
  expect(await notifier.ended).toBe(0)
  await mongo.stop()
})

async function freePort(): Promise<number> {
  const server = createServer()
  await listen(server, 0, '127.0.0.1')
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return port
}

test('a configuration that cannot work is refused whole, with exit code 78', async () => {
  const notifier = run({ SMTP_URL: 'https://mail.example.com', EGRESS_ALLOW_CIDRS: '127.0.0.0/8' })
  expect(await notifier.ended).toBe(78)
  expect(notifier.output()).toContain('SMTP_URL is not a URL like smtp://')
})
