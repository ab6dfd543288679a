import { frame, MESSAGES, type MessageName, type MessageOf, unframe } from '@backstop/contracts'
import { AppError } from '../errors.ts'
import { type SchemaRegistry, trustSchemaId } from './schema-registry.ts'

/** Converts messages to and from bytes in Kafka: Confluent's wire format around JSON. */
export interface MessageCodec {
  /** The id of the schema that this process writes, for callers that frame bytes themselves. */
  schemaId(name: MessageName): number
  /** @throws AppError `message_invalid` if the message does not match its schema, which is a bug */
  encode<N extends MessageName>(name: N, message: MessageOf<N>): Buffer
  /**
   * Decodes a message and removes fields that a newer writer added.
   * @throws AppError `message_invalid` if the bytes are not such a message; `unavailable` (retryable) if their schema
   * id is unknown and cannot be looked up now
   */
  decode<N extends MessageName>(name: N, bytes: Buffer | null): Promise<MessageOf<N>>
}

export interface CodecParts {
  readonly registry: SchemaRegistry
  /** The id of each message type's current schema. */
  readonly own: ReadonlyMap<MessageName, number>
  /**
   * Returns the message types with this id according to another source, if it knows any. It is asked before the registry, so that a
   * registry that hangs delays only ids that nobody else knows.
   */
  readonly recall: (schemaId: number) => Promise<readonly MessageName[]>
}

/** How long an id is remembered as missing in the registry, in milliseconds, and the maximum number of such ids. */
const UNKNOWN_FOR_MS = 60_000
const MAX_UNKNOWN = 1_000

/** A codec whose own ids a later answer of the registry can correct. */
export interface CorrectableCodec extends MessageCodec {
  /** Writes messages of this type with this id from now on. Messages with the id before are still decoded. */
  adopt(name: MessageName, schemaId: number): void
}

/** Creates the codec on a schema registry. */
export function createCodec({ registry, own, recall }: CodecParts): CorrectableCodec {
  const writtenIds = new Map(own)
  /** The message types of ids whose schema is not fetched. Their messages are checked by zod. */
  const types = new Map<number, readonly MessageName[]>()
  const unknownUntil = new Map<number, number>()
  const rememberTypes = (schemaId: number, names: readonly MessageName[]) => {
    types.set(schemaId, names)
    trustSchemaId(registry, schemaId)
  }
  const rememberOwn = (name: MessageName, schemaId: number) =>
    rememberTypes(schemaId, [...(types.get(schemaId) ?? []), name])
  for (const [name, schemaId] of own) rememberOwn(name, schemaId)

  /** Fetches the schema into the registry client's cache. @throws AppError as `decode` does */
  async function fetchSchema(schemaId: number): Promise<void> {
    if ((unknownUntil.get(schemaId) ?? 0) > performance.now()) throw unknownSchema(schemaId)
    const names = await recall(schemaId).catch(() => [])
    if (names.length > 0) return rememberTypes(schemaId, names)
    try {
      // Concurrent calls share one request.
      await registry.getSchema(schemaId)
    } catch (error) {
      if (!(error instanceof AppError)) {
        throw new AppError('message_invalid', `Schema ${schemaId} is of a kind that is not read here`, { cause: error })
      }
      if (error.code === 'not_found') {
        if (unknownUntil.size >= MAX_UNKNOWN) unknownUntil.clear()
        unknownUntil.set(schemaId, performance.now() + UNKNOWN_FOR_MS)
        throw unknownSchema(schemaId)
      }
      // A refusal of the registry, for example of the password, says nothing about the message.
      throw new AppError('unavailable', error.message, { cause: error, retryable: true })
    }
  }

  return {
    schemaId: name => writtenIds.get(name)!,
    adopt(name, schemaId) {
      rememberOwn(name, schemaId)
      writtenIds.set(name, schemaId)
    },
    encode(name, message) {
      // The registry client's own encode is asynchronous because it may fetch a schema; these schemas are in memory.
      return frame(writtenIds.get(name)!, JSON.stringify(validated(name, message)))
    },
    async decode(name, bytes) {
      const unframed = unframe(bytes)
      if (unframed.kind === 'not_framed') throw new AppError('message_invalid', unframed.reason)
      const { schemaId } = unframed
      if (registry.cache.getSchema(schemaId) === undefined) await fetchSchema(schemaId)
      const known = types.get(schemaId)
      if (known !== undefined && !known.includes(name)) {
        throw new AppError('message_invalid', `Schema ${schemaId} is a schema of ${known.join(', ')}, not of ${name}`)
      }
      let value: unknown
      try {
        // A trusted schema is checked by zod alone, so its messages need not pass through the registry client.
        value = known === undefined ? await registry.decode(bytes!) : JSON.parse(unframed.json.toString())
      } catch (error) {
        throw invalidMessage(name, error)
      }
      return validated(name, value)
    },
  }
}

function unknownSchema(schemaId: number): AppError {
  return new AppError('message_invalid', `Schema ${schemaId} is not in the schema registry`)
}

/** Lists paths only, without the cause, because parsers quote values, which may be personal data. */
function invalidMessage(name: MessageName, error: unknown): AppError {
  const paths = (error as { paths?: unknown }).paths
  const reason = Array.isArray(paths)
    ? `it breaks its own schema at ${paths.slice(0, 5).map(String).join(', ') || 'its root'}`
    : 'it is not JSON'
  return new AppError('message_invalid', `The message is not a valid ${name}: ${reason}`)
}

function validated<N extends MessageName>(name: N, value: unknown): MessageOf<N> {
  const parsed = MESSAGES[name].schema.safeParse(value)
  if (parsed.success) return parsed.data as MessageOf<N>
  // Lists paths and rules only, because values may be personal data.
  const faults = parsed.error.issues.slice(0, 5).map(issue => `${issue.path.join('.') || 'message'}: ${issue.code}`)
  throw new AppError('message_invalid', `The message is not a valid ${name} (${faults.join(', ')})`)
}
