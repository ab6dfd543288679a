import { setTimeout as pause } from 'node:timers/promises'
import { MESSAGES, type MessageName, registrySchema, registrySubject, schemaKey, schemaText } from '@backstop/contracts'
import { AppError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import { createCodec, type MessageCodec } from './message-codec.ts'
import { createRegistryClient, type RegistryClient } from './registry-client.ts'
import type { SchemaIdStore } from './schema-id-store.ts'

export interface RegistryCodecOptions {
  /** Base URL of the registry's Confluent-compatible API. */
  readonly registryUrl: string
  /** Stands before every subject; the same as the bus's. */
  readonly topicPrefix: string
  readonly schemaIds: SchemaIdStore
  readonly logger: Logger
  /** How long to wait at start until the deploy job has registered all schemas, in milliseconds; 60000 when left out. */
  readonly waitMs?: number
}

const ATTEMPT_EVERY_MS = 500
/** How long an id that belongs to nothing of ours is remembered as such, in milliseconds, and how many are. */
const UNKNOWN_FOR_MS = 60_000
const MAX_UNKNOWN = 1_000

/**
 * The codec of the services. Schemas are never registered here: their ids are looked up once, at the registry or, when
 * it is away, in `schema_ids`.
 * @throws AppError `unavailable` when neither knows all ids in time
 */
export async function createRegistryCodec(options: RegistryCodecOptions): Promise<MessageCodec> {
  const registry = createRegistryClient(options.registryUrl)
  const own = await resolveOwnIds(options, registry)
  const known = new Map<number, Set<MessageName>>()
  const learn = (schemaId: number, name: MessageName) => {
    const names = known.get(schemaId) ?? new Set()
    known.set(schemaId, names.add(name))
  }
  for (const [name, id] of own) learn(id, name)
  const lookUp = createLookUp(registry, options, learn)
  return createCodec({
    own: name => own.get(name)!,
    belongs: (schemaId, name) => known.get(schemaId)?.has(name) || lookUp(schemaId, name),
  })
}

const names = Object.keys(MESSAGES) as MessageName[]

async function resolveOwnIds(
  { schemaIds, topicPrefix, logger, waitMs = 60_000 }: RegistryCodecOptions,
  registry: RegistryClient,
): Promise<Map<MessageName, number>> {
  const ids = new Map<MessageName, number>()
  const deadline = performance.now() + waitMs
  for (;;) {
    let lastError: unknown
    for (const name of names.filter(name => !ids.has(name))) {
      try {
        const id = await ownId(name, topicPrefix, registry, schemaIds)
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
        lastError === undefined ? 'run the deploy job, which registers them' : 'registry and MongoDB are away'
      const message = `No schema ids for ${missing.join(', ')}: ${remedy}`
      throw new AppError('unavailable', message, { cause: lastError, retryable: true })
    }
    logger.info({ missing, error: lastError instanceof Error ? lastError.message : undefined }, 'codec.waiting')
    await pause(ATTEMPT_EVERY_MS)
  }
}

/** The registry first: a registry that was set up anew gives other ids than those that were kept. */
async function ownId(
  name: MessageName,
  topicPrefix: string,
  registry: RegistryClient,
  kept: SchemaIdStore,
): Promise<number | undefined> {
  try {
    return await registry.lookUp(registrySubject(name, topicPrefix), schemaText(registrySchema(name)))
  } catch (error) {
    const id = await kept.idOf(schemaKey(name))
    if (id === undefined) throw error
    return id
  }
}

/** Asks whether an id that this process does not know belongs to a message type: one question per id at a time. */
function createLookUp(
  registry: RegistryClient,
  { schemaIds, topicPrefix }: RegistryCodecOptions,
  learn: (schemaId: number, name: MessageName) => void,
): (schemaId: number, name: MessageName) => Promise<boolean> {
  const asking = new Map<number, Promise<readonly MessageName[]>>()
  const unknownUntil = new Map<string, number>()

  async function ask(schemaId: number): Promise<readonly MessageName[]> {
    try {
      const subjects = await registry.subjectsOf(schemaId)
      return names.filter(name => subjects?.includes(registrySubject(name, topicPrefix)))
    } catch (error) {
      const messages = await schemaIds.messagesOf(schemaId)
      if (messages.length === 0) throw error
      return messages
    }
  }

  return async (schemaId, name) => {
    const key = `${schemaId}/${name}`
    if ((unknownUntil.get(key) ?? 0) > performance.now()) return false
    let question = asking.get(schemaId)
    if (question === undefined) {
      question = ask(schemaId).finally(() => asking.delete(schemaId))
      asking.set(schemaId, question)
    }
    const owners = await question
    for (const owner of owners) learn(schemaId, owner)
    if (owners.includes(name)) return true
    if (unknownUntil.size >= MAX_UNKNOWN) unknownUntil.clear()
    unknownUntil.set(key, performance.now() + UNKNOWN_FOR_MS)
    return false
  }
}
