import { frame, type Recheck } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { unavailable } from '../errors.ts'
import { createCodec, createFixedCodec } from './message-codec.ts'

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
    { name: 'the schema of another type', bytes: frame(codec.schemaId('alert'), '{}'), message: /is none of recheck/ },
    { name: 'a schema that nobody knows', bytes: frame(4_711, JSON.stringify(recheck)), message: /Schema 4711/ },
    { name: 'a negative schema id', bytes: frame(-1, JSON.stringify(recheck)), message: /Schema -1/ },
  ])('$name', async ({ bytes, message }) => {
    const refusal = codec.decode('recheck', bytes)
    await expect(refusal).rejects.toMatchObject({ name: 'AppError', code: 'message_invalid', retryable: false })
    await expect(refusal).rejects.toThrow(message)
    // A refusal is logged and stands in a header of the dead letter.
    await expect(refusal).rejects.not.toThrow(/secret/)
  })
})

test('a schema that cannot be looked up now is worth another try', async () => {
  const away = createCodec({
    own: () => 1,
    belongs: () => Promise.reject(unavailable('The schema registry', undefined)),
  })
  await expect(away.decode('recheck', frame(2, '{}'))).rejects.toMatchObject({ code: 'unavailable', retryable: true })
})

test('a message that does not match its own schema is never encoded', () => {
  expect(() => codec.encode('recheck', { ...recheck, due_at: 'tomorrow' })).toThrow(/due_at: invalid_format/)
})
