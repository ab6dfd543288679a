/**
 * Confluent's wire format: a zero byte, the schema id as a big-endian 32-bit integer, then the JSON
 * (https://docs.confluent.io/platform/current/schema-registry/fundamentals/serdes-develop/index.html#wire-format).
 */
const PREFIX_BYTES = 5

/** Prepends the id of the schema to JSON text or bytes. */
export function frame(schemaId: number, json: string | Buffer): Buffer {
  const length = typeof json === 'string' ? Buffer.byteLength(json) : json.length
  const { bytes, jsonAt } = allocateFrame(schemaId, length)
  if (typeof json === 'string') bytes.write(json, jsonAt)
  else json.copy(bytes, jsonAt)
  return bytes
}

/** Makes a message with the id of the schema. The caller writes the JSON, of exactly `jsonBytes`, to the position `jsonAt`. */
export function allocateFrame(schemaId: number, jsonBytes: number): { bytes: Buffer; jsonAt: number } {
  const bytes = Buffer.allocUnsafe(PREFIX_BYTES + jsonBytes)
  bytes[0] = 0
  bytes.writeInt32BE(schemaId, 1)
  return { bytes, jsonAt: PREFIX_BYTES }
}

/** A message split into schema id and JSON, or why it cannot be split. */
export type Unframed = { kind: 'framed'; schemaId: number; json: Buffer } | { kind: 'not_framed'; reason: string }

/** Splits a message into schema id and JSON. `json` shares memory with `bytes`. */
export function unframe(bytes: Buffer | null): Unframed {
  if (bytes === null) return { kind: 'not_framed', reason: 'The message has no value' }
  if (bytes.length <= PREFIX_BYTES) return { kind: 'not_framed', reason: `The message has only ${bytes.length} bytes` }
  if (bytes[0] !== 0) return { kind: 'not_framed', reason: `The message starts with byte ${bytes[0]}, not 0` }
  return { kind: 'framed', schemaId: bytes.readInt32BE(1), json: bytes.subarray(PREFIX_BYTES) }
}
