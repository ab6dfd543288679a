import { createRequire } from 'node:module'
import { ByteWriter } from './byte-writer.ts'
import { encodeProduceRequest, type ProduceRequest } from './produce-request.ts'
import { BusRecord } from './record-batch.ts'

/** The arguments that kafkajs 2.2.4's producer passes to `src/protocol/requests/produce`. */
interface ProduceArguments {
  readonly acks: number
  readonly timeout: number
  readonly compression?: number
  readonly transactionalId?: string | null
  readonly producerId: number
  readonly topicData: readonly {
    readonly topic: string
    readonly partitions: readonly { readonly partition: number; readonly messages: readonly object[] }[]
  }[]
}

/** What kafkajs reads of a request's encoded content (`src/protocol/encoder.js`, `writeEncoder`). */
interface Payload {
  readonly buf: Buffer
  readonly buffer: Buffer
}

interface ProduceProtocol {
  readonly request: { encode(): Promise<Payload> }
  readonly response: unknown
}

/** kafkajs 2.2.4's `src/protocol/requests/produce/index.js`. */
interface ProduceDefinition {
  protocol: (negotiated: { readonly version: number }) => (given: ProduceArguments) => ProduceProtocol
  isPatched?: boolean
}

/** The versions whose requests differ only in their number. Version 3 began with record batches; kafkajs knows none after 7. */
const VERSIONS = { oldest: 3, newest: 7 } as const
const NOT_IDEMPOTENT = -1

/**
 * Makes kafkajs encode the produce requests of our producers with `encodeProduceRequest`. Connections, versions, timeouts, answers and
 * errors stay with kafkajs. Its own encoder is used for every other request: of other producers, compressed by kafkajs or idempotent.
 * @param mayCompress false to compare the bytes with those of kafkajs
 */
export function patchKafkajsEncoder(mayCompress = true): void {
  const require = createRequire(import.meta.url)
  const definition = require('kafkajs/src/protocol/requests/produce') as ProduceDefinition
  if (definition.isPatched) return
  definition.isPatched = true
  const protocolOf = definition.protocol
  const writer = new ByteWriter()
  definition.protocol = negotiated => {
    const { version } = negotiated
    const create = protocolOf(negotiated)
    if (version < VERSIONS.oldest || version > VERSIONS.newest) return create
    return given => {
      const { request, response } = create(given)
      if (!isOurs(given)) return { request, response }
      return { request: { ...request, encode: async () => createPayload(writer, given, mayCompress) }, response }
    }
  }
}

function isOurs(given: ProduceArguments): given is ProduceArguments & ProduceRequest {
  if ((given.compression ?? 0) !== 0 || given.transactionalId != null) return false
  if (given.producerId !== NOT_IDEMPOTENT) return false
  return given.topicData.every(({ partitions }) =>
    partitions.every(({ messages }) => messages.every(message => message instanceof BusRecord)),
  )
}

/**
 * Encodes when kafkajs reads `buffer`, because it then copies the content without an interruption, so that all requests can share one
 * buffer. Between `encode` and the copy, another request may be encoded.
 */
function createPayload(writer: ByteWriter, request: ProduceRequest, mayCompress: boolean): Payload {
  return {
    buf: writer.bytes,
    get buffer() {
      writer.at = 0
      encodeProduceRequest(writer, request, mayCompress)
      return writer.bytes.subarray(0, writer.at)
    },
  }
}
