import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  frame,
  MESSAGES,
  type MessageName,
  type Recheck,
  registrySchema,
  registrySubject,
  schemaKey,
  schemaText,
} from '@backstop/contracts'
import { MongoClient } from 'mongodb'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMemorySchemaIds } from '../../test/memory-schema-ids.ts'
import { type TestStack, testStack } from '../../test/stack.ts'
import { until } from '../../test/until.ts'
import { createRegistryCodec } from './registry-codec.ts'
import { createMongoSchemaIds, type SchemaIdStore } from './schema-id-store.ts'
import { createSchemaRegistry, findSchemaId, registerSchema, type SchemaRegistry } from './schema-registry.ts'

const names = Object.keys(MESSAGES) as MessageName[]
const recheck: Recheck = { project_id: 'prj', ref: 'r', look_id: 'l', due_at: '2026-01-01T00:00:00.000Z' }

let stack: TestStack
let registry: SchemaRegistry
let client: MongoClient
beforeAll(async () => {
  stack = await testStack()
  registry = createSchemaRegistry(stack.registryUrl)
  client = new MongoClient(stack.mongoUrl.reveal())
})
afterAll(async () => {
  await client.close()
  await stack.close()
})

/** Registers all schemas like the deploy job. `prefix` separates test runs. */
async function registerAll(prefix: string, kept: SchemaIdStore): Promise<void> {
  for (const name of names) {
    const schemaId = await registerSchema(registry, registrySubject(name, prefix), schemaText(registrySchema(name)))
    await kept.save({ key: schemaKey(name), schemaId, message: name, registeredAt: new Date() })
  }
}

function openCodec(prefix: string, kept: SchemaIdStore, registryUrl = stack.registryUrl, waitMs = 0) {
  return createRegistryCodec({ registryUrl, topicPrefix: prefix, schemaIds: kept, logger: stack.logger, waitMs })
}

/** Starts a registry that counts its requests and can be made unavailable. */
async function startFrontRegistry() {
  const state = { isDown: false, requests: [] as string[], answered: 0 }
  const server: Server = createServer(async (request, response) => {
    state.requests.push(`${request.method} ${request.url}`)
    if (state.isDown) return response.writeHead(503).end('<html>away</html>')
    const body: Buffer[] = []
    for await (const chunk of request) body.push(chunk)
    const init: RequestInit = { method: request.method!, headers: { 'content-type': 'application/json' } }
    if (body.length > 0) init.body = Buffer.concat(body)
    const answer = await fetch(stack.registryUrl + request.url, init)
    const text = await answer.text()
    return response.writeHead(answer.status).end(text, () => state.answered++)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const stop = () => new Promise(resolve => server.close(resolve))
  return { state, url, stop }
}

describe('the stores of schema ids', () => {
  test.each([
    { name: 'in memory', make: createMemorySchemaIds },
    { name: 'in MongoDB', make: () => createMongoSchemaIds(client.db(stack.dbName)) },
  ])('$name: what is saved is found by key and by id, and a new id replaces the old', async ({ make }) => {
    const store = make()
    expect(await store.idOf('recheck/abc')).toBeUndefined()
    expect(await store.messagesOf(7)).toEqual([])
    const entry = { key: 'recheck/abc', message: 'recheck' as const, registeredAt: new Date() }
    await store.save({ ...entry, schemaId: 7 })
    await store.save({ key: 'alert/abc', message: 'alert', registeredAt: new Date(), schemaId: 7 })
    expect(await store.idOf('recheck/abc')).toBe(7)
    expect([...(await store.messagesOf(7))].sort()).toEqual(['alert', 'recheck'])
    await store.save({ ...entry, schemaId: 8 })
    expect(await store.idOf('recheck/abc')).toBe(8)
  })
})

test('every message type finds its registered id and is decoded by another process', async () => {
  const prefix = `${stack.topicPrefix}all.`
  const kept = createMemorySchemaIds()
  await registerAll(prefix, kept)
  const [writer, reader] = [await openCodec(prefix, kept), await openCodec(prefix, kept)]
  expect(await reader.decode('recheck', writer.encode('recheck', recheck))).toEqual(recheck)
  expect(new Set(names.map(name => writer.schemaId(name))).size).toBe(names.length)
})

test('a start before the deploy job waits for it, and names the missing parts after the time limit', async () => {
  const prefix = `${stack.topicPrefix}late.`
  const kept = createMemorySchemaIds()
  await expect(openCodec(prefix, kept)).rejects.toThrow(/No schema ids for inbound-event, .*: run the deploy job/)
  const opening = openCodec(prefix, kept, stack.registryUrl, 30_000)
  await registerAll(prefix, kept)
  expect((await opening).encode('recheck', recheck)).toBeInstanceOf(Buffer)
})

test('the stored ids are used while the registry is unavailable', async () => {
  const prefix = `${stack.topicPrefix}away.`
  const kept = createMongoSchemaIds(client.db(stack.dbName))
  await registerAll(prefix, kept)
  const codec = await openCodec(prefix, kept, 'http://127.0.0.1:1')
  expect(await codec.decode('recheck', codec.encode('recheck', recheck))).toEqual(recheck)
  await expect(openCodec(prefix, createMemorySchemaIds(), 'http://127.0.0.1:1')).rejects.toMatchObject({
    code: 'unavailable',
    retryable: true,
  })
})

test('the stored ids are used at once while the registry accepts connections and never answers', async () => {
  const prefix = `${stack.topicPrefix}hangs.`
  const kept = createMongoSchemaIds(client.db(stack.dbName))
  await registerAll(prefix, kept)
  const hanging = createServer(() => {})
  await new Promise<void>(resolve => hanging.listen(0, '127.0.0.1', resolve))
  const startedAt = performance.now()
  const codec = await openCodec(prefix, kept, `http://127.0.0.1:${(hanging.address() as AddressInfo).port}`)
  expect(performance.now() - startedAt).toBeLessThan(4_000)
  expect(await codec.decode('recheck', codec.encode('recheck', recheck))).toEqual(recheck)
  hanging.closeAllConnections()
  await new Promise(resolve => hanging.close(resolve))
})

describe('a schema id that this process does not know', () => {
  async function setUp(tag: string) {
    const prefix = `${stack.topicPrefix}${tag}.`
    const kept = createMemorySchemaIds()
    await registerAll(prefix, kept)
    const front = await startFrontRegistry()
    const codec = await openCodec(prefix, kept, front.url)
    // The check of the stored ids is over.
    await until('the answers of the registry', () => front.state.answered === names.length, { timeoutMs: 10_000 })
    // A newer release registers the schema with an additional optional field.
    const schema = registrySchema('recheck') as { properties: object }
    const newer = schemaText({ ...schema, properties: { ...schema.properties, added_later: { type: 'string' } } })
    const newerId = await registerSchema(registry, registrySubject('recheck', prefix), newer)
    front.state.requests.length = 0
    const newerBytes = frame(newerId, JSON.stringify({ ...recheck, added_later: 'x' }))
    return { codec, front, newerBytes }
  }

  test('is looked up once, and the newer message is read without its new field', async () => {
    const { codec, front, newerBytes } = await setUp('newer')
    const decoded = await Promise.all([1, 2, 3].map(() => codec.decode('recheck', newerBytes)))
    expect(decoded).toEqual([recheck, recheck, recheck])
    await codec.decode('recheck', newerBytes)
    expect(front.state.requests).toHaveLength(1)
    await front.stop()
  })

  test('is refused for another type than its own', async () => {
    const { codec, front, newerBytes } = await setUp('other')
    await expect(codec.decode('alert', newerBytes)).rejects.toMatchObject({ code: 'message_invalid' })
    await front.stop()
  })

  test('is retryable while the registry is unavailable, and found when it is available again', async () => {
    const { codec, front, newerBytes } = await setUp('back')
    front.state.isDown = true
    await expect(codec.decode('recheck', newerBytes)).rejects.toMatchObject({ code: 'unavailable', retryable: true })
    front.state.isDown = false
    expect(await codec.decode('recheck', newerBytes)).toEqual(recheck)
    await front.stop()
  })

  test('is refused if it is unknown, and the registry is not asked again for each message', async () => {
    const { codec, front } = await setUp('nobody')
    for (const _ of [1, 2, 3]) {
      await expect(codec.decode('recheck', frame(2_000_000, '{}'))).rejects.toMatchObject({ code: 'message_invalid' })
    }
    expect(front.state.requests).toHaveLength(1)
    await front.stop()
  })
})

describe('registering a schema', () => {
  const schema = (required: string[]) =>
    schemaText({
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' } },
      required,
      additionalProperties: false,
    })
  const ask = async (method: string, path: string, body?: object) => {
    const init: RequestInit = { method, headers: { 'content-type': 'application/json' } }
    if (body !== undefined) init.body = JSON.stringify(body)
    return (await fetch(stack.registryUrl + path, init)).json()
  }

  test('gives its subject a level and one version, however often it is done', async () => {
    const subject = `${stack.topicPrefix}once-value`
    expect(await findSchemaId(registry, subject, schema(['a']))).toBeUndefined()
    const first = await registerSchema(registry, subject, schema(['a']))
    expect(await registerSchema(registry, subject, schema(['a']))).toBe(first)
    expect(await findSchemaId(registry, subject, schema(['a']))).toBe(first)
    expect(await ask('GET', `/subjects/${subject}/versions`)).toEqual([1])
    expect(await ask('GET', `/config/${subject}`)).toEqual({ compatibilityLevel: 'BACKWARD_TRANSITIVE' })
  })

  test('is refused as a conflict that names subject and reason when it is incompatible with an earlier version', async () => {
    const subject = `${stack.topicPrefix}narrower-value`
    await registerSchema(registry, subject, schema(['a']))
    const narrower = registerSchema(registry, subject, schema(['a', 'b']))
    await expect(narrower).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('required') })
    await expect(narrower).rejects.toThrow(subject)
  })

  test('is refused as a conflict if the subject has another level', async () => {
    const subject = `${stack.topicPrefix}lax-value`
    await registerSchema(registry, subject, schema(['a']))
    await ask('PUT', `/config/${subject}`, { compatibility: 'NONE' })
    const refused = registerSchema(registry, subject, schema(['a']))
    await expect(refused).rejects.toMatchObject({ code: 'conflict', retryable: false })
    await expect(refused).rejects.toThrow(/lax-value: Compatibility does not match .*BACKWARD_TRANSITIVE != NONE/)
  })
})
