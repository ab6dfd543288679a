import { BSON, type Document } from 'mongodb'
import { refusedWrite } from './errors.ts'

const MAX_DOCUMENT_BYTES = 16 * 1_048_576

/** The bytes of each stored document, with which two are compared faster than by their fields. */
const bytesOf = new WeakMap<Document, Uint8Array>()

/**
 * A document as MongoDB would store and return it: without undefined fields, numbers and binary data as the driver gives them back.
 * @throws MongoServerError 10334 if it is too large
 */
export function stored<T extends Document>(document: T): T {
  const bytes = BSON.serialize(document, { ignoreUndefined: true })
  if (bytes.length > MAX_DOCUMENT_BYTES) throw refusedWrite(10_334, `BSONObj size: ${bytes.length} is invalid`)
  const made = BSON.deserialize(bytes) as T
  bytesOf.set(made, bytes)
  return made
}

/** Whether two stored documents are the same for MongoDB, also in the order of their fields. */
export function areEqual(one: Document, other: Document): boolean {
  const [bytes, others] = [bytesOf.get(one), bytesOf.get(other)]
  return bytes === undefined || others === undefined ? keyOf(one) === keyOf(other) : Buffer.compare(bytes, others) === 0
}

/** A copy that its reader may change. Values that cannot change (ids, binary data) are shared. */
export function copy<T>(value: T): T {
  if (Array.isArray(value)) return value.map(copy) as T
  if (value instanceof Date) return new Date(value.getTime()) as T
  if (value === null || typeof value !== 'object' || '_bsontype' in value) return value
  const made: Record<string, unknown> = {}
  for (const name in value) made[name] = copy((value as Record<string, unknown>)[name])
  return made as T
}

/** Text that is equal for equal values and differs for others: 1 and 1.0 are equal, 1 and '1' are not. */
export function keyOf(value: unknown): string {
  if (value === undefined || value === null) return 'null'
  if (typeof value === 'string') return `"${value}`
  if (value instanceof Date) return `d${value.getTime()}`
  if (typeof value !== 'object') return `${typeof value}${value}`
  if (Array.isArray(value)) return `[${value.map(keyOf).join(',')}]`
  if ('_bsontype' in value) return `${value._bsontype}${String(value)}`
  return `{${Object.entries(value)
    .map(([name, field]) => `${name}:${keyOf(field)}`)
    .join(',')}}`
}

/**
 * The values of a path as an index holds them: one for each element of an array on the way, also of the last one. A missing field has no
 * value.
 */
export function valuesAt(document: unknown, path: readonly string[]): unknown[] {
  const [name, ...rest] = path
  if (name === undefined) return Array.isArray(document) ? document : [document]
  if (Array.isArray(document)) return document.flatMap(element => valuesAt(element, path))
  if (document === null || typeof document !== 'object') return []
  const value = (document as Record<string, unknown>)[name]
  return value === undefined ? [] : valuesAt(value, rest)
}
