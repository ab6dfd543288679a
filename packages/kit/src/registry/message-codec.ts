import { frame, MESSAGES, type MessageName, type MessageOf, unframe } from '@backstop/contracts'
import { AppError } from '../errors.ts'

/** Messages to and from the bytes that Kafka carries: Confluent's wire format around JSON. */
export interface MessageCodec {
  /** The id of the schema that this process writes a message type by, for whoever frames bytes itself. */
  schemaId(name: MessageName): number
  /** @throws AppError `message_invalid` when the message does not match its schema: a fault of ours */
  encode<N extends MessageName>(name: N, message: MessageOf<N>): Buffer
  /**
   * Fields that a newer writer added are dropped.
   * @throws AppError `message_invalid` when the bytes are no such message; `unavailable` (retryable) when their schema
   *   id is not known here and cannot be looked up now
   */
  decode<N extends MessageName>(name: N, bytes: Buffer | null): Promise<MessageOf<N>>
}

/** What a codec needs to know of schema ids. */
export interface SchemaIds {
  own(name: MessageName): number
  /** Whether a schema id belongs to the message type. @throws AppError `unavailable` when that cannot be found out now */
  belongs(schemaId: number, name: MessageName): boolean | Promise<boolean>
}

/** The codec over a source of schema ids. */
export function createCodec(ids: SchemaIds): MessageCodec {
  return {
    schemaId: name => ids.own(name),
    encode(name, message) {
      return frame(ids.own(name), JSON.stringify(matching(name, message)))
    },
    async decode(name, bytes) {
      const unframed = unframe(bytes)
      if (unframed.kind === 'not_framed') throw new AppError('message_invalid', unframed.reason)
      const { schemaId, json } = unframed
      const belongs = ids.belongs(schemaId, name)
      // Awaited only when it is a look-up: nearly every message has an id that is known.
      if (!(typeof belongs === 'boolean' ? belongs : await belongs)) {
        throw new AppError('message_invalid', `Schema ${schemaId} is none of ${name}`)
      }
      return matching(name, parseJson(name, json))
    },
  }
}

function matching<N extends MessageName>(name: N, value: unknown): MessageOf<N> {
  const parsed = MESSAGES[name].schema.safeParse(value)
  if (parsed.success) return parsed.data as MessageOf<N>
  // Paths and rules only: the values may be personal.
  const faults = parsed.error.issues.slice(0, 5).map(issue => `${issue.path.join('.') || 'message'}: ${issue.code}`)
  throw new AppError('message_invalid', `The message is no ${name} (${faults.join(', ')})`)
}

function parseJson(name: MessageName, json: Buffer): unknown {
  try {
    return JSON.parse(json.toString('utf8'))
  } catch {
    // The parser's own message quotes what it read.
    throw new AppError('message_invalid', `The message is no ${name}: it is not JSON`)
  }
}

/** A codec with ids of its own, for simulation and unit tests: no registry is asked. */
export function createFixedCodec(): MessageCodec {
  const names = Object.keys(MESSAGES) as MessageName[]
  const own = (name: MessageName) => names.indexOf(name) + 1
  return createCodec({ own, belongs: (schemaId, name) => schemaId === own(name) })
}
