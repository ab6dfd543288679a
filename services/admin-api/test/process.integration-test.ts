/** Tests the real process: its start, its output, an outage of its database and its end. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type ApiKeyDocument, COLLECTIONS } from '@backstop/contracts'
import { nodeEnvironment, startTcpProxy, type TcpProxy, type TestStack, testStack, until } from '@backstop/kit/test'
import { provision } from '@backstop/provision'
import { MongoClient } from 'mongodb'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type ApiClient, createApiClient } from './api-client.ts'

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const CLI = fileURLToPath(new URL('../../../packages/cli/src/main.ts', import.meta.url))
const KEY = 'chosen-by-the-operator-0123456789'
let stack: TestStack
let proxy: TcpProxy
const running: ChildProcess[] = []

beforeAll(async () => {
  stack = await testStack()
  await provision({
    kafka: stack.kafka(),
    topicPrefix: stack.topicPrefix,
    durability: { replication: 1, minInsync: 1 },
    mongo: { url: stack.mongoUrl, dbName: stack.dbName },
    registryUrl: stack.registryUrl,
    waitMs: 30_000,
    report: () => {},
  })
  const { hostname, port } = new URL(stack.mongoUrl.reveal())
  proxy = await startTcpProxy({ host: hostname, port: Number(port) })
})
afterEach(async () => {
  for (const child of running.splice(0)) child.kill('SIGKILL')
  const client = new MongoClient(stack.mongoUrl.reveal())
  await client.db(stack.dbName).collection('api_keys').deleteMany({})
  await client.close()
})
afterAll(async () => {
  await proxy.stop()
  await stack.close()
})

interface Run {
  readonly child: ChildProcess
  readonly ended: Promise<number | null>
  output(): string
  /** A client of the process, once its log says on which port it listens. */
  api(key: string): Promise<ApiClient>
}

function run(environment: Record<string, string>): Run {
  let output = ''
  const child = spawn(process.execPath, [MAIN], {
    env: { ...nodeEnvironment(), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.push(child)
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', chunk => (output += chunk))
  const ended = new Promise<number | null>(resolve => child.once('exit', resolve))
  return {
    child,
    ended,
    output: () => output,
    async api(key) {
      const seen = () => output.slice(-2_000)
      const port = await until('the process to listen', () => /"port":(\d+).*service\.started/.exec(output)?.[1], {
        seen,
      })
      return createApiClient(`http://127.0.0.1:${port}`, key)
    },
  }
}

const environment = (more: Record<string, string> = {}) => ({
  PORT: '0',
  KAFKA_BROKERS: stack.kafkaBrokers.join(','),
  KAFKA_TOPIC_PREFIX: stack.topicPrefix,
  MONGO_URL: stack.mongoUrl.reveal(),
  MONGO_DB: stack.dbName,
  SCHEMA_REGISTRY_URL: stack.registryUrl,
  INGRESS_PUBLIC_URL: 'https://in.example.test',
  SECRET_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
  ...more,
})
const printedKeys = (...runs: Run[]) =>
  runs.flatMap(one =>
    [...one.output().matchAll(/^Backstop API key \(shown once, keep it\): (bsk_\w+)$/gm)].map(([, key]) => key),
  )

describe('the process', () => {
  test('prints the first key once if two replicas start at once, and both accept it', async () => {
    const both = [run(environment()), run(environment())] as const
    const key = await until('one key to be printed', () => printedKeys(...both)[0])
    for (const one of both) expect((await (await one.api(key)).get('/v1/projects')).status).toBe(200)
    const third = run(environment())
    expect((await (await third.api(key)).get('/v1/projects')).status).toBe(200)
    expect(printedKeys(...both, third)).toEqual([key])
    // All other lines of the output are log lines, which mask the key.
    for (const one of [...both, third]) expect(one.output().split(key).length).toBeLessThanOrEqual(2)
  })

  test('takes the first key from the environment without printing it, and refuses URLs of internal addresses', async () => {
    const one = run(environment({ BOOTSTRAP_API_KEY: KEY }))
    const api = await one.api(KEY)
    await until('the key to be known', async () => (await api.get('/v1/projects')).status === 200)
    expect(one.output()).not.toContain(KEY)
    expect(printedKeys(one)).toEqual([])
    // The real network policy allows loopback only if the operator allowed it; this test does not.
    const { project_id } = (await api.post('/v1/projects', { name: 'x' })).body
    for (const url of ['http://127.0.0.1:1/x', 'https://[::1]/x', 'https://10.0.0.1/x', 'https://localhost/x']) {
      const channel = { project_id, name: 'x', events: ['run.failed'], config: { kind: 'webhook', url } }
      expect(await api.post('/v1/alert-channels', channel)).toMatchObject({
        status: 400,
        body: { code: 'egress_blocked' },
      })
    }
  })

  test('refuses changes and is not ready while a unique index is missing', async () => {
    const client = new MongoClient(stack.mongoUrl.reveal())
    const operations = client.db(stack.dbName).collection('operations')
    await operations.dropIndex('connection_id_1_idempotency_key_1')
    try {
      const one = run(environment({ BOOTSTRAP_API_KEY: KEY }))
      const api = await one.api(KEY)
      await until('the key to be known', async () => (await api.get('/v1/projects')).status === 200)
      const text =
        'The unique index {"connection_id":1,"idempotency_key":1} of operations is missing: run the deploy job'
      const answers = await Promise.all(Array.from({ length: 12 }, () => api.post('/v1/projects', { name: 'x' })))
      for (const answer of answers) expect(answer).toMatchObject({ status: 503, body: { detail: text } })
      const opsPort = /"ops_port":(\d+)/.exec(one.output())?.[1]
      const readiness = await fetch(`http://127.0.0.1:${opsPort}/readyz`)
      expect({ status: readiness.status, text: await readiness.text() }).toEqual({ status: 503, text: `${text}\n` })
      const { keys, options } = COLLECTIONS.operations.indexes[6]
      await operations.createIndex(keys, options)
      await until('it to take changes', async () => (await api.post('/v1/projects', { name: 'x' })).status === 201)
    } finally {
      const { keys, options } = COLLECTIONS.operations.indexes[6]
      await operations.createIndex(keys, options)
      await client.close()
    }
  })

  test('names every invalid setting and exits with 78', async () => {
    const one = run({ ...environment({ SECRET_KEYS: 'k1:tooshort' }), INGRESS_PUBLIC_URL: 'nowhere' })
    expect(await one.ended).toBe(78)
    expect(one.output()).toMatch(/2 error\(s\)/)
    expect(one.output()).toMatch(/INGRESS_PUBLIC_URL[\s\S]*SECRET_KEYS: Key "k1" is not 32 bytes/)
    expect(one.output()).not.toContain('tooshort')
  })

  test('exits with 0 after SIGTERM, after answering the request in flight', async () => {
    const one = run(environment({ BOOTSTRAP_API_KEY: KEY }))
    const api = await one.api(KEY)
    const project = await until(
      'a project',
      async () => (await api.post('/v1/projects', { name: 'x' })).body.project_id,
    )
    const config = { kind: 'email', to: ['a@b.test'] }
    const channel = await api.post('/v1/alert-channels', {
      project_id: project,
      name: 'x',
      events: ['run.failed'],
      config,
    })
    // No notifier runs, so the test of the channel waits until the process stops.
    const atWork = api.post(`/v1/alert-channels/${channel.body.channel_id}/test`)
    await until('the test to be at work', async () => {
      const client = new MongoClient(stack.mongoUrl.reveal())
      const rows = await client.db(stack.dbName).collection('audit').countDocuments()
      await client.close()
      return rows >= 2
    })
    one.child.kill('SIGTERM')
    expect(await atWork).toMatchObject({ status: 503, body: { code: 'unavailable' } })
    expect(await one.ended).toBe(0)
  })

  test('answers 503 while MongoDB is down, and recovers without a restart', async () => {
    const { host, port } = proxy.address
    const throughProxy = `mongodb://${host}:${port}/?directConnection=true`
    const one = run(environment({ BOOTSTRAP_API_KEY: KEY, MONGO_URL: throughProxy }))
    const api = await one.api(KEY)
    await until('the key to be known', async () => (await api.get('/v1/projects')).status === 200)
    proxy.mode = 'refuse'
    proxy.cutAll()
    const refused = await api.post('/v1/projects', { name: 'x' })
    expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable', detail: 'MongoDB is unavailable' } })
    expect(refused.headers.get('retry-after')).toBe('5')
    expect((await api.withKey(undefined).get('/v1/openapi.json')).status).toBe(200)
    proxy.mode = 'pass'
    await until('MongoDB to be used again', async () => (await api.post('/v1/projects', { name: 'x' })).status === 201)
  })

  test('starts while MongoDB is down, and creates the first key when MongoDB is back', async () => {
    const { host, port } = proxy.address
    proxy.mode = 'refuse'
    const one = run(environment({ MONGO_URL: `mongodb://${host}:${port}/?directConnection=true` }))
    const api = await one.api(KEY)
    expect((await api.get('/v1/projects')).status).toBe(503)
    expect(printedKeys(one)).toEqual([])
    proxy.mode = 'pass'
    const key = await until('the key to be printed', () => printedKeys(one)[0], {
      timeoutMs: 30_000,
      seen: () => one.output().slice(-3_000),
    })
    expect((await api.withKey(key).get('/v1/projects')).status).toBe(200)
  })
})

describe('backstop keys recover', () => {
  const recover = (more: Record<string, string> = {}, ...options: string[]) => {
    const MONGO_URL = stack.mongoUrl.reveal()
    const env = { ...nodeEnvironment(), MONGO_URL, MONGO_DB: stack.dbName, ...more }
    return promisify(execFile)(process.execPath, [CLI, 'keys', 'recover', ...options], { env })
  }

  test('creates an admin key if no other key works, and writes an audit row', async () => {
    const one = run(environment({ BOOTSTRAP_API_KEY: KEY }))
    const lost = await one.api(KEY)
    await until('the key to be known', async () => (await lost.get('/v1/projects')).status === 200)
    const client = new MongoClient(stack.mongoUrl.reveal())
    const keys = client.db(stack.dbName).collection('api_keys')
    await keys.updateMany({}, { $set: { expires_at: new Date(0) } })
    expect((await lost.get('/v1/projects')).status).toBe(401)

    const { stdout, stderr } = await recover()
    const key = stdout.trim()
    expect(stdout).toMatch(/^bsk_[0-9A-Za-z]{36}\n$/)
    expect(stderr).not.toContain(key)
    const api = lost.withKey(key)
    expect((await api.post('/v1/api-keys', { name: 'Next', scopes: ['admin'] })).status).toBe(201)
    const recovered = (await api.get('/v1/api-keys')).body.data.find(({ hint }: { hint: string }) =>
      key.startsWith(hint),
    )
    expect(recovered).toMatchObject({ name: expect.stringMatching(/^Recovered by .+@.+/), scopes: ['admin'] })
    expect((await api.get(`/v1/audit?target=${recovered.key_id}`)).body.data).toMatchObject([
      { key_id: 'recovery', action: 'api_key.recover', request_id: null, operator: expect.stringMatching(/^.+@.+$/) },
    ])
    await recover({ SECRET_KEYS: environment({}).SECRET_KEYS ?? '' }, '--operator', 'Ada Lovelace')
    const row = await client
      .db(stack.dbName)
      .collection('audit')
      .findOne({ operator: /^Ada Lovelace \(.+@.+\)$/ })
    expect(row).toMatchObject({ action: 'api_key.recover', mac: expect.any(String) })
    const reported = () => keys.countDocuments({ unreported_recovery: { $type: 'string' } })
    await until('both keys to be reported', async () => (await reported()) === 0, { timeoutMs: 30_000 })
    await client.close()
  })

  test.each([
    { options: [], days: 90, validity: 'is valid for 90 days' },
    { options: ['--no-expiry'], days: null, validity: 'does not expire' },
  ])('creates a key that $validity with the options $options', async ({ options, days, validity }) => {
    const { stderr } = await recover({}, ...options)
    expect(stderr).toContain(validity)
    const client = new MongoClient(stack.mongoUrl.reveal())
    const _id = /key_\w+/.exec(stderr)?.[0]
    const key = await client
      .db(stack.dbName)
      .collection<ApiKeyDocument>('api_keys')
      .findOne({ _id: _id ?? '' })
    const expiresAt = days === null ? null : new Date((key?.created_at.getTime() ?? 0) + days * 86_400_000)
    expect(key).toMatchObject({ scopes: ['admin'], expires_at: expiresAt })
    await client.close()
  })

  test('writes nothing to a database that does not belong to Backstop', async () => {
    const MONGO_DB = `${stack.dbName}_other`
    await expect(recover({ MONGO_DB })).rejects.toMatchObject({ code: 3, stdout: '' })
    const client = new MongoClient(stack.mongoUrl.reveal())
    expect(await client.db(MONGO_DB).collections()).toEqual([])
    await client.close()
  })
})
