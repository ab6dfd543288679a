import { randomBytes, randomUUID } from 'node:crypto'
import { createRequire } from 'node:module'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { registerCodecs } from '../kafkajs/codecs.ts'
import { ByteWriter } from './byte-writer.ts'
import { crc32c } from './crc32c.ts'
import { patchKafkajsEncoder } from './kafkajs-encoder-patch.ts'
import { keyPartitioner, murmur2 } from './key-partitioner.ts'
import { encodeProduceRequest } from './produce-request.ts'
import { BusRecord, writeRecordBatch } from './record-batch.ts'

const require = createRequire(import.meta.url)
const kafkajsCrc32c = require('kafkajs/src/protocol/recordBatch/crc32C') as (bytes: Buffer) => number
const kafkajsMurmur2 = require('kafkajs/src/producer/partitioners/default/murmur2') as (key: Buffer) => number
const createFrame = require('kafkajs/src/protocol/request') as (parts: object) => Promise<{ buffer: Buffer }>
/** The versions that the patch encodes. */
const VERSIONS = [3, 4, 5, 6, 7]
/** kafkajs's own encoders, which the patch does not change. */
const kafkajsRequests = new Map(
  [2, ...VERSIONS].map(version => [version, require(`kafkajs/src/protocol/requests/produce/v${version}/request`)]),
)
patchKafkajsEncoder(false)
const definition = require('kafkajs/src/protocol/requests/produce') as {
  protocol(negotiated: { version: number }): (given: object) => { request: Encodable }
}

interface Encodable {
  encode(): Promise<{ buffer: Buffer }>
}

/** The arguments that kafkajs's producer passes if it is neither idempotent nor transactional. */
const argumentsFor = (topicData: readonly object[]) => ({
  ...{ acks: -1, timeout: 4_000, compression: 0, transactionalId: undefined, producerId: -1, producerEpoch: 0 },
  topicData,
})
/** The bytes on the wire: kafkajs copies the content behind its header. */
const bytesOf = async (request: Encodable) =>
  (await createFrame({ correlationId: 7, clientId: 'test', request: { ...request, apiKey: 0, apiVersion: 7 } })).buffer
const kafkajsBytes = (version: number, given: object) => bytesOf(kafkajsRequests.get(version)(given))
const ourBytes = (version: number, given: object) => bytesOf(definition.protocol({ version })(given).request)

const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }))
const bytes = fc.uint8Array({ maxLength: 300 }).map(array => Buffer.from(array))
const headers = fc.dictionary(text, text, { maxKeys: 8 })
const message = fc.record({ key: text, value: fc.option(bytes), headers })
const partition = fc.record({ partition: fc.nat(1_000), messages: fc.array(message, { minLength: 1, maxLength: 70 }) })
const topics = fc.array(
  fc.record({ topic: fc.stringMatching(/^[a-zé._-]{1,60}$/), partitions: fc.array(partition, { maxLength: 4 }) }),
  { maxLength: 3 },
)
const timestamps = fc.integer({ min: 0, max: 4_102_444_800_000 }).map(String)

function topicDataOf(drawn: readonly { topic: string; partitions: readonly object[] }[], timestamp: string) {
  return (drawn as readonly { topic: string; partitions: { partition: number; messages: BusRecord[] }[] }[]).map(
    ({ topic, partitions }) => ({
      topic,
      partitions: partitions.map(({ partition, messages }) => ({
        partition,
        firstSequence: 0,
        messages: messages.map(({ key, value, headers }) => new BusRecord(key, value, headers, timestamp)),
      })),
    }),
  )
}

describe('a produce request without compression', () => {
  test('has the same bytes as that of kafkajs', async () => {
    const property = fc.asyncProperty(
      topics,
      timestamps,
      fc.constantFrom(...VERSIONS),
      async (drawn, timestamp, version) => {
        const given = argumentsFor(topicDataOf(drawn, timestamp))
        expect(Buffer.compare(await ourBytes(version, given), await kafkajsBytes(version, given))).toBe(0)
      },
    )
    await fc.assert(property, { numRuns: 100 })
  })

  test('has the same bytes with fields around the limits of their length prefixes, in batches larger than the buffer', async () => {
    const messages = [0, 63, 64, 8_191, 8_192, 300_000, 1_048_576].map(
      length =>
        new BusRecord(
          'k'.repeat(length % 10_000),
          Buffer.alloc(length, 7),
          { 'x-h': 'é'.repeat(length % 9_000) },
          '1790000000000',
        ),
    )
    const partitions = [{ partition: 1, messages, firstSequence: 0 }]
    const given = argumentsFor([{ topic: 'alerts', partitions }])
    expect(Buffer.compare(await ourBytes(7, given), await kafkajsBytes(7, given))).toBe(0)
  })

  test('has its own bytes if another one is encoded at the same time', async () => {
    const messages = (value: string) => [new BusRecord('key', Buffer.from(value), {}, '1790000000000')]
    const given = ['first', 'second', 'the third one'].map(value =>
      argumentsFor([{ topic: 'alerts', partitions: [{ partition: 0, messages: messages(value), firstSequence: 0 }] }]),
    )
    const encoded = await Promise.all(given.map(one => ourBytes(7, one)))
    const expected = await Promise.all(given.map(one => kafkajsBytes(7, one)))
    expect(encoded.map(String)).toEqual(expected.map(String))
  })

  test.each([
    {
      name: 'of another producer',
      more: {},
      messages: [{ key: 'k', value: 'text', headers: { a: ['1', '2'] }, timestamp: '1' }],
    },
    { name: 'of an idempotent producer', more: { producerId: 5, producerEpoch: 1 }, messages: undefined },
    { name: 'that is compressed', more: { compression: 1 }, messages: undefined },
    { name: 'of a transaction', more: { transactionalId: 'id' }, messages: undefined },
  ])('$name is encoded by kafkajs', async ({ more, messages = [new BusRecord('k', Buffer.from('v'), {}, '1')] }) => {
    const partitions = [{ partition: 3, messages, firstSequence: 9 }]
    const given = { ...argumentsFor([{ topic: 'alerts', partitions }]), ...more }
    expect(await ourBytes(7, given)).toEqual(await kafkajsBytes(7, given))
  })

  test('of a version before record batches is encoded by kafkajs', async () => {
    const messages = [new BusRecord('k', Buffer.from('v'), {}, '1790000000000')]
    const given = argumentsFor([{ topic: 'alerts', partitions: [{ partition: 0, messages, firstSequence: 0 }] }])
    expect(await ourBytes(2, given)).toEqual(await kafkajsBytes(2, given))
  })
})

describe('a compressed batch', () => {
  registerCodecs()
  const decode = require('kafkajs/src/protocol/recordBatch/v0/decoder') as (decoder: object) => Promise<DecodedBatch>
  const Decoder = require('kafkajs/src/protocol/decoder') as new (bytes: Buffer) => object
  interface DecodedBatch {
    readonly records: readonly { key: Buffer; value: Buffer | null; headers: Record<string, Buffer> }[]
  }
  /** The batch behind another one, as in a request with several partitions. */
  function batchOf(records: readonly BusRecord[], mayCompress = true): Buffer {
    const writer = new ByteWriter()
    writeRecordBatch(writer, [new BusRecord('before', Buffer.alloc(1_000), {}, '1')], mayCompress)
    const start = writer.at
    writeRecordBatch(writer, records, mayCompress)
    return Buffer.from(writer.bytes.subarray(start, writer.at))
  }

  test('is read by kafkajs as the same records, with its length and checksum', async () => {
    // kafkajs reads headers into an object, which has properties like `toString` already.
    const named = fc.record({
      key: text,
      value: fc.option(bytes),
      headers: fc.dictionary(fc.stringMatching(/^x-[a-z]{1,20}$/), text),
    })
    const drawn = fc.array(named, { minLength: 1, maxLength: 70 })
    const property = fc.asyncProperty(drawn, timestamps, async (messages, timestamp) => {
      const records = messages.map(({ key, value, headers }) => new BusRecord(key, value, headers, timestamp))
      const bytes = batchOf(records)
      expect(bytes.length).toBeLessThanOrEqual(batchOf(records, false).length)
      expect(bytes.readInt32BE(8)).toBe(bytes.length - 12)
      expect(bytes.readUInt32BE(17)).toBe(kafkajsCrc32c(bytes.subarray(21)) >>> 0)
      const read = await decode(new Decoder(bytes))
      expect(read.records.map(({ key, value }) => [String(key), value])).toEqual(
        records.map(({ key, value }) => [key, value]),
      )
      expect(read.records.map(({ headers }) => Object.values(headers).map(String))).toEqual(
        records.map(({ headers }) => Object.values(headers)),
      )
    })
    await fc.assert(property, { numRuns: 100 })
  })

  test('has less bytes for a single message as Backstop sends them', () => {
    const names = ['operation_id', 'project_id', 'connection_id', 'subject', 'provider_ref']
    const ids = Object.fromEntries(names.map(name => [name, `pi_${randomUUID()}`]))
    const times = Object.fromEntries(
      ['created_at', 'updated_at', 'ended_at'].map(name => [name, '2026-11-30T11:39:28.000Z']),
    )
    const value = Buffer.from(JSON.stringify({ ...ids, ...times, reason: null, run_id: null, idempotency_key: null }))
    const records = [new BusRecord(randomUUID(), value, {}, '1790000000000')]
    expect(batchOf(records).length).toBeLessThan(0.85 * batchOf(records, false).length)
  })

  test.each([
    { name: 'that would not shrink', value: randomBytes(2_000) },
    {
      name: 'that would shrink to less than its 16th part, which would fill the memory of a consumer',
      value: Buffer.alloc(100_000, 1),
    },
  ])('does not exist for records $name', ({ value }) => {
    const records = [new BusRecord('key', value, {}, '1790000000000')]
    expect(batchOf(records)).toEqual(batchOf(records, false))
  })
})

test('notifications are compressed in small requests only, other messages always', () => {
  const value = Buffer.from(JSON.stringify(Array.from({ length: 100 }, (_, index) => `pi_${index}`)))
  const bytesOfOne = (topic: string, count: number) => {
    const writer = new ByteWriter()
    const partitions = Array.from({ length: count }, (_, partition) => ({
      partition,
      messages: [new BusRecord('key', value, {}, '1790000000000')],
    }))
    encodeProduceRequest(writer, { acks: -1, timeout: 1_000, topicData: [{ topic, partitions }] })
    return writer.at / count
  }
  expect(bytesOfOne('test.inbound.processor', 1)).toBeLessThan(600)
  expect(bytesOfOne('test.inbound.processor', 4)).toBeLessThan(600)
  expect(bytesOfOne('test.inbound.processor', 5)).toBeGreaterThan(value.length)
  expect(bytesOfOne('test.operations', 100)).toBeLessThan(600)
})

test('the checksum is the CRC-32C of RFC 3720, as in kafkajs', () => {
  // The examples of RFC 3720, appendix B.4, and the check value of the algorithm.
  expect(crc32c(Buffer.alloc(32), 0, 32)).toBe(0x8a9136aa)
  expect(crc32c(Buffer.alloc(32, 0xff), 0, 32)).toBe(0x62a8ab43)
  expect(crc32c(Buffer.from('123456789'), 0, 9)).toBe(0xe3069283)
  const property = fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(20), (array, skipped) => {
    const bytes = Buffer.from(array)
    const start = Math.min(skipped, bytes.length)
    expect(crc32c(bytes, start, bytes.length)).toBe(kafkajsCrc32c(bytes.subarray(start)))
  })
  fc.assert(property, { numRuns: 300 })
})

test('a key has the partition that kafkajs chooses', () => {
  const choose = keyPartitioner()
  const property = fc.property(text, fc.integer({ min: 1, max: 100 }), (key, count) => {
    const bytes = Buffer.from(key)
    expect(murmur2(bytes)).toBe(kafkajsMurmur2(bytes))
    const partitionMetadata = Array.from({ length: count }, () => ({}) as never)
    const chosen = choose({ topic: 'alerts', partitionMetadata, message: { key, value: null } })
    expect(chosen).toBe((kafkajsMurmur2(bytes) & 0x7fffffff) % count)
  })
  fc.assert(property, { numRuns: 300 })
})
