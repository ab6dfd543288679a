import { setTimeout as pause } from 'node:timers/promises'
import { MESSAGES, type MessageName, registrySchema, registrySubject, schemaKey, schemaText } from '@backstop/contracts'
import { AppError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import { createCodec, type MessageCodec } from './message-codec.ts'
import type { RegistryExchange } from './registry-exchange.ts'
import type { SchemaIdStore } from './schema-id-store.ts'
import { createSchemaRegistry, findSchemaId, type SchemaRegistry } from './schema-registry.ts'

export interface RegistryCodecOptions {
  /** Base URL of the registry's Confluent-compatible API. */
  readonly registryUrl: string
  /** Over HTTP without credentials by default. */
  readonly exchange?: RegistryExchange | undefined
  /** Prefix of every subject; the same as the prefix of the bus. */
  readonly topicPrefix: string
  readonly schemaIds: SchemaIdStore
  readonly logger: Logger
  /**
   * How long to wait at the start until the deploy job has registered all schemas, in milliseconds; 60000 by default.
   */
  readonly waitMs?: number
}

const ATTEMPT_EVERY_MS = 500
/**
 * The codec of the services. It registers no schemas: it looks up their ids once, at the registry or, if the registry
 * is unavailable, in `schema_ids`.
 * @throws AppError `unavailable` if neither source knows all ids in time
 */
export async function createRegistryCodec(options: RegistryCodecOptions): Promise<MessageCodec> {
  const registry = createSchemaRegistry(options.registryUrl, options.exchange)
  const own = await findOwnIds(options, registry)
  return createCodec({ registry, own, recall: schemaId => options.schemaIds.messagesOf(schemaId) })
}

const names = Object.keys(MESSAGES) as MessageName[]

async function findOwnIds(
  { schemaIds, topicPrefix, logger, waitMs = 60_000 }: RegistryCodecOptions,
  registry: SchemaRegistry,
): Promise<Map<MessageName, number>> {
  const ids = new Map<MessageName, number>()
  const deadline = performance.now() + waitMs
  for (;;) {
    let lastError: unknown
    for (const name of names.filter(name => !ids.has(name))) {
      try {
        const id = await findOwnId(name, topicPrefix, registry, schemaIds)
        if (id !== undefined) ids.set(name, id)
      } catch (error) {
        lastError = error
        break
      }
    }
    const missing = names.filter(name => !ids.has(name))
    if (missing.length === 0) return ids
    if (performance.now() > deadline) {
      const remedy =
        lastError === undefined
          ? 'run the deploy job, which registers them'
          : 'the schema registry and MongoDB are unavailable'
      const message = `No schema ids for ${missing.join(', ')}: ${remedy}`
      throw new AppError('unavailable', message, { cause: lastError, retryable: true })
    }
    logger.info({ missing, error: lastError instanceof Error ? lastError.message : undefined }, 'codec.waiting')
    await pause(ATTEMPT_EVERY_MS)
  }
}

/** Asks the registry first, because a replaced registry assigns other ids than the stored ones. */
async function findOwnId(
  name: MessageName,
  topicPrefix: string,
  registry: SchemaRegistry,
  kept: SchemaIdStore,
): Promise<number | undefined> {
  try {
    return await findSchemaId(registry, registrySubject(name, topicPrefix), schemaText(registrySchema(name)))
  } catch (error) {
    const id = await kept.idOf(schemaKey(name))
    if (id === undefined) throw error
    return id
  }
}
