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
import { type TestStack, testStack } from '../../test/stack.ts'
import { createRegistryClient, type RegistryClient } from './registry-client.ts'
import { createRegistryCodec } from './registry-codec.ts'
import { createMemorySchemaIds, createMongoSchemaIds, type SchemaIdStore } from './schema-id-store.ts'

const names = Object.keys(MESSAGES) as MessageName[]
const recheck: Recheck = { project_id: 'prj', ref: 'r', look_id: 'l', due_at: '2026-01-01T00:00:00.000Z' }

let stack: TestStack
let registry: RegistryClient
let client: MongoClient
beforeAll(async () => {
  stack = await testStack()
  registry = createRegistryClient(stack.registryUrl)
  client = new MongoClient(stack.mongoUrl.reveal())
})
afterAll(async () => {
  await client.close()
  await stack.close()
})

/** Registers all schemas as the deploy job does; `prefix` tells test runs apart. */
async function registerAll(prefix: string, kept: SchemaIdStore): Promise<void> {
  for (const name of names) {
    const schemaId = await registry.register(registrySubject(name, prefix), schemaText(registrySchema(name)))
    await kept.save({ key: schemaKey(name), schemaId, message: name, registeredAt: new Date() })
  }
}

function openCodec(prefix: string, kept: SchemaIdStore, registryUrl = stack.registryUrl, waitMs = 0) {
  return createRegistryCodec({ registryUrl, topicPrefix: prefix, schemaIds: kept, logger: stack.logger, waitMs })
}

/** A registry that counts what it is asked, or that is away. */
async function startFrontRegistry() {
  const state = { away: false, requests: [] as string[] }
  const server: Server = createServer(async (request, response) => {
    state.requests.push(`${request.method} ${request.url}`)
    if (state.away) return response.writeHead(503).end('<html>away</html>')
    const body: Buffer[] = []
    for await (const chunk of request) body.push(chunk)
    const init: RequestInit = { method: request.method!, headers: { 'content-type': 'application/json' } }
    if (body.length > 0) init.body = Buffer.concat(body)
    const answer = await fetch(stack.registryUrl + request.url, init)
    return response.writeHead(answer.status).end(await answer.text())
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

test('a start before the deploy job waits for it, and says what is missing when it never comes', async () => {
  const prefix = `${stack.topicPrefix}late.`
  const kept = createMemorySchemaIds()
  await expect(openCodec(prefix, kept)).rejects.toThrow(/No schema ids for inbound-event, .*: run the deploy job/)
  const opening = openCodec(prefix, kept, stack.registryUrl, 30_000)
  await registerAll(prefix, kept)
  expect((await opening).encode('recheck', recheck)).toBeInstanceOf(Buffer)
})

test('a registry that is away stops nobody: the kept ids are used', async () => {
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

describe('a schema id that this process does not know', () => {
  async function setUp(tag: string) {
    const prefix = `${stack.topicPrefix}${tag}.`
    const kept = createMemorySchemaIds()
    await registerAll(prefix, kept)
    const front = await startFrontRegistry()
    const codec = await openCodec(prefix, kept, front.url)
    // What a newer release registers: an optional field more.
    const schema = registrySchema('recheck') as { properties: object }
    const newer = schemaText({ ...schema, properties: { ...schema.properties, added_later: { type: 'string' } } })
    const newerId = await registry.register(registrySubject('recheck', prefix), newer)
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

  test('is worth another try while the registry is away, and found when it is back', async () => {
    const { codec, front, newerBytes } = await setUp('back')
    front.state.away = true
    await expect(codec.decode('recheck', newerBytes)).rejects.toMatchObject({ code: 'unavailable', retryable: true })
    front.state.away = false
    expect(await codec.decode('recheck', newerBytes)).toEqual(recheck)
    await front.stop()
  })

  test('is refused when nobody knows it, and the registry is not asked again for each message', async () => {
    const { codec, front } = await setUp('nobody')
    for (const _ of [1, 2, 3]) {
      await expect(codec.decode('recheck', frame(2_000_000, '{}'))).rejects.toMatchObject({ code: 'message_invalid' })
    }
    expect(front.state.requests).toHaveLength(1)
    await front.stop()
  })
})

describe('the registry client', () => {
  test('refuses an incompatible schema as a conflict that names the reason', async () => {
    const subject = `${stack.topicPrefix}client-value`
    const schema = (required: string[]) =>
      schemaText({
        type: 'object',
        properties: { a: { type: 'string' }, b: { type: 'string' } },
        required,
        additionalProperties: false,
      })
    await registry.setCompatibility(subject, 'BACKWARD_TRANSITIVE')
    const first = await registry.register(subject, schema(['a']))
    expect(await registry.register(subject, schema(['a']))).toBe(first)
    await expect(registry.register(subject, schema(['a', 'b']))).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('required'),
    })
  })

  test('tells a registry that answers with an error page from one that refuses', async () => {
    const front = await startFrontRegistry()
    front.state.away = true
    const away = createRegistryClient(front.url)
    await expect(away.lookUp('x-value', '{}')).rejects.toMatchObject({ code: 'unavailable', retryable: true })
    await front.stop()
  })
})
