import { frame, type JsonSchema, type MessageName, type Recheck, registrySchema, schemaText } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { createFixedCodec } from '../../test/fixed-codec.ts'
import { AppError, unavailable } from '../errors.ts'
import { createCodec } from './message-codec.ts'
import type { RegistryExchange } from './registry-exchange.ts'
import { createSchemaRegistry } from './schema-registry.ts'

const recheck: Recheck = { project_id: 'prj', ref: 'r', look_id: 'l', due_at: '2026-01-01T00:00:00.000Z' }
const codec = createFixedCodec()
const framed = (json: string) => frame(codec.schemaId('recheck'), json)

test('what is encoded is decoded to the same', async () => {
  expect(await codec.decode('recheck', codec.encode('recheck', recheck))).toEqual(recheck)
})

test('fields that a newer writer added are dropped', async () => {
  expect(await codec.decode('recheck', framed(JSON.stringify({ ...recheck, added_later: 1 })))).toEqual(recheck)
})

describe('bytes that are no such message are refused, for good', () => {
  test.each([
    { name: 'no value', bytes: null, message: /has no value/ },
    { name: 'an empty value', bytes: Buffer.alloc(0), message: /only 0 bytes/ },
    { name: 'plain JSON without a frame', bytes: Buffer.from('{"a":1}'), message: /starts with byte 123/ },
    { name: 'text that is no JSON', bytes: framed('{"project_id":"secret"'), message: /is not JSON/ },
    { name: 'JSON that lacks a field', bytes: framed('{"project_id":"p"}'), message: /ref: invalid_type/ },
    { name: 'JSON that is no object', bytes: framed('"secret"'), message: /message: invalid_type/ },
    {
      name: 'the schema of another type',
      bytes: frame(codec.schemaId('alert'), '{}'),
      message: /is a schema of alert, not of recheck/,
    },
    { name: 'an unknown schema', bytes: frame(4_711, JSON.stringify(recheck)), message: /Schema 4711/ },
    { name: 'a negative schema id', bytes: frame(-1, JSON.stringify(recheck)), message: /Schema -1/ },
  ])('$name', async ({ bytes, message }) => {
    const refusal = codec.decode('recheck', bytes)
    await expect(refusal).rejects.toMatchObject({ name: 'AppError', code: 'message_invalid', retryable: false })
    await expect(refusal).rejects.toThrow(message)
    // A refusal is logged and copied to a header of the dead letter.
    await expect(refusal).rejects.not.toThrow(/secret/)
  })
})

describe('a schema that this process does not know', () => {
  const theirs = 50
  /** A codec whose registry answers `exchange` for every schema id, with the number of requests. */
  function setUp(exchange: RegistryExchange, kept: MessageName[] = []) {
    const asked: string[] = []
    const registry = createSchemaRegistry('http://nowhere.invalid', async request => {
      asked.push(request.url())
      return exchange(request)
    })
    const own = new Map([['recheck', 1] as const])
    return { asked, codec: createCodec({ registry, own, recall: async () => kept }) }
  }
  const unavailableRegistry: RegistryExchange = async () => {
    throw unavailable('The schema registry', undefined)
  }
  const holding = (schema: JsonSchema, schemaType = 'JSON'): RegistryExchange => {
    return async () => ({ schemaType, schema: schemaText(schema) })
  }
  const bytes = frame(theirs, JSON.stringify({ ...recheck, secret: 'x' }))

  test('is worth another try while it cannot be looked up', async () => {
    const { codec } = setUp(unavailableRegistry)
    await expect(codec.decode('recheck', bytes)).rejects.toMatchObject({ code: 'unavailable', retryable: true })
  })

  test('is worth another try when the registry refuses us, which says nothing about the message', async () => {
    const { codec } = setUp(async () => {
      throw new AppError('internal', 'The schema registry refused with 401')
    })
    await expect(codec.decode('recheck', bytes)).rejects.toMatchObject({ code: 'unavailable', retryable: true })
  })

  test('is read at once by what is kept of it, also while the registry hangs', async () => {
    const { codec } = setUp(() => new Promise(() => {}), ['recheck'])
    expect(await codec.decode('recheck', bytes)).toEqual(recheck)
  })

  test('is asked of the registry if what is kept cannot be read', async () => {
    const registry = createSchemaRegistry('http://nowhere.invalid', holding({ type: 'object' }))
    const recall = () => Promise.reject(unavailable('MongoDB', undefined))
    const codec = createCodec({ registry, own: new Map([['recheck', 1] as const]), recall })
    expect(await codec.decode('recheck', bytes)).toEqual(recheck)
  })

  test('is refused when what is kept of it names another type', async () => {
    const { codec } = setUp(unavailableRegistry, ['alert'])
    await expect(codec.decode('recheck', bytes)).rejects.toThrow('Schema 50 is a schema of alert, not of recheck')
  })

  test('is asked for once, by many messages at once and later', async () => {
    const { codec, asked } = setUp(holding({ type: 'object' }))
    expect(await Promise.all([1, 2].map(() => codec.decode('recheck', bytes)))).toEqual([recheck, recheck])
    await codec.decode('recheck', bytes)
    expect(asked).toEqual(['http://nowhere.invalid/schemas/ids/50'])
  })

  test.each([
    {
      name: 'its own message breaks it',
      schema: { type: 'object', properties: { secret: { type: 'number' } } },
      message: 'it breaks its own schema at /secret',
    },
    { name: 'what it allows is no such message', schema: registrySchema('alert'), message: 'it breaks its own schema' },
    { name: 'it cannot be compiled', schema: { type: 'nonsense' }, message: 'of a kind that is not read here' },
    {
      name: 'it is no JSON Schema',
      schema: { type: 'string' },
      schemaType: 'AVRO',
      message: 'The message is not a valid recheck',
    },
    { name: 'it is of an unheard-of kind', schema: {}, schemaType: 'COBOL', message: 'not read here' },
  ])('is refused, for good, when $name', async ({ schema, schemaType, message }) => {
    const { codec } = setUp(holding(schema, schemaType))
    const refusal = codec.decode('recheck', bytes)
    await expect(refusal).rejects.toMatchObject({ code: 'message_invalid', retryable: false })
    await expect(refusal).rejects.toThrow(message)
  })
})

test('a message that does not match its own schema is never encoded', () => {
  expect(() => codec.encode('recheck', { ...recheck, due_at: 'tomorrow' })).toThrow(/due_at: invalid_format/)
})
