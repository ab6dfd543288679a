/**
 * Encodes the messages of one partition as a record batch of version 2
 * (https://kafka.apache.org/documentation/#recordbatch). kafkajs makes a Buffer for every number and text of a record and
 * copies each several times; here every byte is written once, to its place.
 */
import { gzipSync } from 'node:zlib'
import { type ByteWriter, varintBytes } from './byte-writer.ts'
import { crc32c } from './crc32c.ts'

/** A message of the bus as kafkajs's producer takes it. kafkajs passes on the object itself, so the encoder recognizes it. */
export class BusRecord {
  readonly key: string
  readonly value: Buffer | null
  readonly headers: Readonly<Record<string, string>>
  /** Milliseconds since the epoch, as digits. The same for all records of one request. */
  readonly timestamp: string

  constructor(key: string, value: Buffer | null, headers: Readonly<Record<string, string>>, timestamp: string) {
    this.key = key
    this.value = value
    this.headers = headers
    this.timestamp = timestamp
  }
}

/** The bytes of a batch before its first record. */
const HEAD_BYTES = 61
/** The position of the length in a batch. */
const LENGTH_AT = 8
/** The position of the checksum in a batch. It covers all bytes after it. */
const CRC_AT = 17
/** Offset and length, which the length of a batch does not include. */
const UNCOUNTED_BYTES = 12
const MAGIC = 2
/** kafkajs writes 0 for epoch and sequence of a producer that is not idempotent. The broker ignores both if the id is -1. */
const NO_PRODUCER = { id: -1, epoch: 0, sequence: 0 } as const

/**
 * The position of the attributes in a batch, and their value for gzip. Java has gzip itself. For zstd a broker needs a native library, which it
 * unpacks into its folder for temporary files and cannot load if that is mounted `noexec`.
 */
const ATTRIBUTES_AT = 21
const GZIP = 1
/** Fewer bytes save less than a block of a disk, and cost as much as more bytes. */
const COMPRESSED_FROM_BYTES = 256
/**
 * Records that shrink more stay as they are. So what a consumer fetches at once (`MAX_FETCHED_BYTES`) has at most this many times as many bytes
 * in memory, whatever providers send.
 */
const MOST_SHRINKAGE = 16
/** As quick as level 1, with 4 % fewer bytes. Level 3 costs a fifth more. */
const COMPRESSION = { level: 2 }

/**
 * Writes one batch, compressed if that saves bytes. All records have the same timestamp. It compresses in this thread, because a thread of the
 * pool costs several times as much as the compression of a few messages.
 * @param records not empty
 * @param mayCompress false to compare the bytes with those of another encoder
 */
export function writeRecordBatch(writer: ByteWriter, records: readonly BusRecord[], mayCompress = true): void {
  const bodies = records.map((record, index) => bodyBytes(record, index))
  const total = bodies.reduce((sum, bytes) => sum + varintBytes(bytes) + bytes, HEAD_BYTES)
  writer.reserve(total)
  const start = writer.at
  const timestamp = Number(records[0]!.timestamp)
  writer.int64(0) // base offset: the broker sets it
  writer.int32(total - UNCOUNTED_BYTES)
  writer.int32(0) // partition leader epoch: the broker sets it
  writer.int8(MAGIC)
  writer.int32(0) // checksum: written below
  writer.int16(0) // attributes: no compression, create time, no transaction
  writer.int32(records.length - 1)
  writer.int64(timestamp)
  writer.int64(timestamp)
  writer.int64(NO_PRODUCER.id)
  writer.int16(NO_PRODUCER.epoch)
  writer.int32(NO_PRODUCER.sequence)
  writer.int32(records.length)
  records.forEach((record, index) => {
    writer.varint(bodies[index]!)
    writeBody(writer, record, index)
  })
  if (mayCompress) compressRecords(writer, start)
  const { bytes, at } = writer
  bytes.writeUInt32BE(crc32c(bytes, start + CRC_AT + 4, at), start + CRC_AT)
}

/** Replaces the records of the batch that begins at `start` by fewer bytes, if there are any. */
function compressRecords(writer: ByteWriter, start: number): void {
  const recordsAt = start + HEAD_BYTES
  const plain = writer.at - recordsAt
  if (plain < COMPRESSED_FROM_BYTES) return
  const compressed = gzipSync(writer.bytes.subarray(recordsAt, writer.at), COMPRESSION)
  if (compressed.length >= plain || compressed.length * MOST_SHRINKAGE < plain) return
  writer.at = recordsAt
  writer.copyOf(compressed)
  writer.bytes.writeInt32BE(writer.at - start - UNCOUNTED_BYTES, start + LENGTH_AT)
  writer.bytes.writeInt16BE(GZIP, start + ATTRIBUTES_AT)
}

function bodyBytes({ key, value, headers }: BusRecord, index: number): number {
  let bytes = 2 + varintBytes(index) + lengthAndBytes(Buffer.byteLength(key)) + lengthAndBytes(value?.length ?? -1)
  const names = Object.keys(headers)
  for (const name of names) {
    bytes += lengthAndBytes(Buffer.byteLength(name)) + lengthAndBytes(Buffer.byteLength(headers[name]!))
  }
  return bytes + varintBytes(names.length)
}

/** The bytes of a field with its length before it; a length of -1 means null. */
function lengthAndBytes(length: number): number {
  return varintBytes(length) + Math.max(0, length)
}

function writeBody(writer: ByteWriter, { key, value, headers }: BusRecord, index: number): void {
  writer.int8(0) // attributes: none are defined
  writer.varint(0) // timestamp: the same in the whole batch
  writer.varint(index)
  writeText(writer, key)
  writer.varint(value?.length ?? -1)
  if (value !== null) writer.copyOf(value)
  const names = Object.keys(headers)
  writer.varint(names.length)
  for (const name of names) {
    writeText(writer, name)
    writeText(writer, headers[name]!)
  }
}

function writeText(writer: ByteWriter, text: string): void {
  writer.varint(Buffer.byteLength(text))
  writer.text(text)
}
