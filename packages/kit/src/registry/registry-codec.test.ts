import { frame, MESSAGES, type MessageName, type Recheck, schemaKey } from '@backstop/contracts'
import { expect, test } from 'vitest'
import { createMemorySchemaIds } from '../../test/memory-schema-ids.ts'
import { until } from '../../test/until.ts'
import { unavailable } from '../errors.ts'
import { createLogger } from '../logger.ts'
import { createRegistryCodec } from './registry-codec.ts'
import type { RegistryExchange } from './registry-exchange.ts'
import type { SchemaIdStore } from './schema-id-store.ts'

const names = Object.keys(MESSAGES) as MessageName[]
const recheck: Recheck = { project_id: 'prj', ref: 'r', look_id: 'l', due_at: '2026-01-01T00:00:00.000Z' }
const never = () => new Promise<never>(() => {})

/** The ids 1, 2, 3 … in the order of the message types. */
async function storedIds(): Promise<SchemaIdStore> {
  const store = createMemorySchemaIds()
  for (const [at, message] of names.entries())
    await store.save({ key: schemaKey(message), schemaId: at + 1, message, registeredAt: new Date() })
  return store
}

/** A registry that gives each subject an id by its place, from `first` on. */
const registryFrom =
  (first: number): RegistryExchange =>
  async request => ({ id: first + names.findIndex(name => request.url().includes(`/${name}-value`)) })

const open = (schemaIds: SchemaIdStore, exchange: RegistryExchange, waitMs = 0, onRegistryAnswer = () => {}) =>
  createRegistryCodec({
    registryUrl: 'http://nowhere.invalid',
    exchange,
    topicPrefix: '',
    schemaIds,
    logger: createLogger('test', 'silent'),
    waitMs,
    askAgainMs: 5,
    onRegistryAnswer,
  })

test('opens with the stored ids while the registry hangs', async () => {
  const codec = await open(await storedIds(), never)
  expect(names.map(name => codec.schemaId(name))).toEqual(names.map((_, at) => at + 1))
})

test('opens with the ids of the registry while MongoDB hangs', async () => {
  const codec = await open({ idOf: never, messagesOf: never, save: never }, registryFrom(1))
  expect(names.map(name => codec.schemaId(name))).toEqual(names.map((_, at) => at + 1))
})

test('writes the ids of a replaced registry as soon as it answers, and decodes messages with the ids before, too', async () => {
  const answers = Promise.withResolvers<void>()
  // The new ids are those that other types had before.
  const replaced = registryFrom(2)
  const codec = await open(await storedIds(), async request => answers.promise.then(() => replaced(request)))
  const before = codec.encode('recheck', recheck)
  const idBefore = codec.schemaId('recheck')
  answers.resolve()
  await until('the new id', () => codec.schemaId('recheck') === idBefore + 1, { timeoutMs: 5_000 })
  expect(await codec.decode('recheck', before)).toEqual(recheck)
  expect(await codec.decode('recheck', frame(idBefore + 1, JSON.stringify(recheck)))).toEqual(recheck)
})

test('keeps the stored ids if the registry answers that it has no schemas', async () => {
  const codec = await open(await storedIds(), async () => {
    throw Object.assign(new Error('Schema not found'), { name: 'ResponseError', status: 404 })
  })
  expect(codec.schemaId('recheck')).toBe(names.indexOf('recheck') + 1)
})

test('asks the registry again until it answers, then takes the ids of one that was replaced while it was down', async () => {
  let isDown = true
  let answers = 0
  const exchange: RegistryExchange = async request => {
    if (isDown) throw unavailable('The schema registry', undefined)
    return registryFrom(2)(request)
  }
  const codec = await open(await storedIds(), exchange, 0, () => {
    answers += 1
  })
  const stored = codec.schemaId('recheck')
  expect(answers).toBe(0)
  isDown = false
  await until('the answer', () => answers === 1)
  expect(codec.schemaId('recheck')).toBe(stored + 1)
})
