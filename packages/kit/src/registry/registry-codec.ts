import { setTimeout as pause } from 'node:timers/promises'
import { MESSAGES, type MessageName, registrySchema, registrySubject, schemaKey, schemaText } from '@backstop/contracts'
import { AppError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import { type CorrectableCodec, createCodec, type MessageCodec } from './message-codec.ts'
import type { RegistryExchange } from './registry-exchange.ts'
import type { SchemaIdStore } from './schema-id-store.ts'
import { createSchemaRegistry, findSchemaId } from './schema-registry.ts'

export interface RegistryCodecOptions {
  /** Base URL of the registry's Confluent-compatible API. */
  readonly registryUrl: string
  /** Over HTTP without credentials by default. */
  readonly exchange?: RegistryExchange | undefined
  /** Prefix of every subject; the same as the prefix of the bus. */
  readonly topicPrefix: string
  readonly schemaIds: SchemaIdStore
  readonly logger: Logger
  /** Called once, when the registry has answered, which may be long after the start. */
  readonly onRegistryAnswer?: () => void
  /** How long to wait until the registry is asked again, in milliseconds; 60000 by default. */
  readonly askAgainMs?: number
  /**
   * How long to wait at the start until the deploy job has registered all schemas, in milliseconds; 60000 by default.
   */
  readonly waitMs?: number
}

const ATTEMPT_EVERY_MS = 500
const names = Object.keys(MESSAGES) as MessageName[]
type Ids = ReadonlyMap<MessageName, number>

/**
 * The codec of the services. It registers no schemas: it looks up their ids once, in `schema_ids` and at the registry, and takes the
 * first complete answer. So neither a registry nor a MongoDB that hangs delays the start. An id names one schema for ever, so a stored
 * id is right; only a replaced registry assigns others, and its answer, which may come after the start, replaces the stored ids.
 * @throws AppError `unavailable` if neither source knows all ids in time
 */
export async function createRegistryCodec(options: RegistryCodecOptions): Promise<MessageCodec> {
  const registry = createSchemaRegistry(options.registryUrl, options.exchange)
  const askRegistry = () =>
    readIds(name =>
      findSchemaId(registry, registrySubject(name, options.topicPrefix), schemaText(registrySchema(name))),
    )
  const { own, registered } = await findOwnIds(options, askRegistry)
  const codec = createCodec({ registry, own, recall: schemaId => options.schemaIds.messagesOf(schemaId) })
  void adoptAnswer(codec, registered, askRegistry, options)
  return codec
}

/**
 * Asks the registry until it answers, and takes its ids. The stored ids are right until then, unless the registry was replaced while it was
 * unavailable.
 */
async function adoptAnswer(
  codec: CorrectableCodec,
  first: Promise<Ids>,
  askRegistry: () => Promise<Ids>,
  { logger, onRegistryAnswer, askAgainMs = 60_000 }: RegistryCodecOptions,
): Promise<void> {
  for (let registered = first; ; registered = askRegistry()) {
    const answer = await registered.catch(() => undefined)
    if (answer !== undefined) {
      adoptIds(codec, answer, logger)
      return onRegistryAnswer?.()
    }
    // The timer keeps no process alive.
    await pause(askAgainMs, undefined, { ref: false })
  }
}

/** Replaces the ids that the registry answers differently. */
function adoptIds(codec: CorrectableCodec, registered: Ids, logger: Logger): void {
  for (const [message, id] of registered) {
    const stored = codec.schemaId(message)
    if (stored === id) continue
    codec.adopt(message, id)
    logger.warn({ message, stored, registered: id }, 'codec.id_replaced')
  }
}

interface OwnIds {
  readonly own: Ids
  /** The answer of the registry, which may be incomplete. It may still come, and rejects if the registry is unavailable. */
  readonly registered: Promise<Ids>
}

async function findOwnIds(
  { schemaIds, logger, waitMs = 60_000 }: RegistryCodecOptions,
  askRegistry: () => Promise<Ids>,
): Promise<OwnIds> {
  const deadline = performance.now() + waitMs
  for (;;) {
    const registered = askRegistry()
    const stored = readIds(name => schemaIds.idOf(schemaKey(name)))
    const own = await firstComplete([stored, registered])
    if (own !== undefined) return { own, registered }
    const [ofStore, ofRegistry] = await Promise.allSettled([stored, registered])
    const failure = [ofRegistry, ofStore].find(({ status }) => status === 'rejected') as
      | PromiseRejectedResult
      | undefined
    const missing = names.filter(
      name => ![ofStore, ofRegistry].some(read => read.status === 'fulfilled' && read.value.has(name)),
    )
    if (performance.now() > deadline) throw noIds(missing, failure?.reason)
    const reason: unknown = failure?.reason
    logger.info({ missing, error: reason instanceof Error ? reason.message : undefined }, 'codec.waiting')
    await pause(ATTEMPT_EVERY_MS)
  }
}

/** The ids that one source knows. All are asked for at once. */
async function readIds(idOf: (name: MessageName) => Promise<number | undefined>): Promise<Ids> {
  const found = await Promise.all(names.map(async name => [name, await idOf(name)] as const))
  return new Map(found.filter((entry): entry is readonly [MessageName, number] => entry[1] !== undefined))
}

/** The first answer with all ids; undefined if there is none. */
function firstComplete(sources: readonly Promise<Ids>[]): Promise<Ids | undefined> {
  const complete = sources.map(async source => {
    const ids = await source
    if (ids.size < names.length) throw new Error('This source does not know all ids')
    return ids
  })
  return Promise.any(complete).catch(() => undefined)
}

function noIds(missing: readonly MessageName[], cause: unknown): AppError {
  const remedy =
    cause === undefined ? 'run the deploy job, which registers them' : 'the schema registry and MongoDB are unavailable'
  return new AppError('unavailable', `No schema ids for ${missing.join(', ')}: ${remedy}`, { cause, retryable: true })
}
