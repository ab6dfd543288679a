import {
  COLLECTIONS,
  type CollectionDefinition,
  type CollectionName,
  MESSAGES,
  type MessageName,
  registrySchema,
  registrySubject,
  schemaKey,
  schemaText,
} from '@backstop/contracts'
import type { TopicAdmin } from '@backstop/kit/bus'
import { createMongoSchemaIds, findSchemaId, type SchemaRegistry } from '@backstop/kit/registry'
import { hasIndex, readIndexes } from '@backstop/kit/service'
import type { Db } from 'mongodb'
import { planTopics, wantedTopics } from './topics/plan-topics.ts'

/**
 * Lists the topics, collections and schemas that this version needs and the deploy job has not created yet, by name. A
 * service may start if the list is empty. Reads only, and ignores the durability of topics, because a service works
 * with any.
 * @throws AppError `unavailable` if Kafka or MongoDB does not answer
 */
export async function findMissing(admin: TopicAdmin, db: Db, topicPrefix: string): Promise<string[]> {
  return [
    ...(await findMissingTopics(admin, topicPrefix)),
    ...(await findMissingCollections(db)),
    ...(await findMissingSchemas(db)),
  ]
}

/** Lists the topics and partitions that do not exist. @throws AppError `unavailable` */
export async function findMissingTopics(admin: TopicAdmin, topicPrefix: string): Promise<string[]> {
  const wanted = wantedTopics(topicPrefix, { replication: 1, minInsync: 1 })
  const { create, grow } = planTopics(wanted, await admin.describe(wanted.map(({ name }) => name)))
  return [
    ...create.map(({ name }) => `topic ${name}`),
    ...grow.map(({ name, from, to }) => `partitions ${from + 1} to ${to} of topic ${name}`),
  ]
}

/** Lists the collections and indexes that do not exist. @throws AppError `unavailable` */
export async function findMissingCollections(db: Db): Promise<string[]> {
  const missing: string[] = []
  for (const [name, definition] of Object.entries(COLLECTIONS) as [CollectionName, CollectionDefinition][]) {
    const present = await readIndexes(db, name)
    if (present === undefined) {
      missing.push(`collection ${name}`)
      continue
    }
    for (const index of definition.indexes) {
      if (hasIndex(present, index)) continue
      missing.push(`${index.options?.unique ? 'unique index' : 'index'} ${JSON.stringify(index.keys)} of ${name}`)
    }
  }
  return missing
}

/** Lists the messages without a stored schema id. @throws AppError `unavailable` */
export async function findMissingSchemas(db: Db): Promise<string[]> {
  const schemaIds = createMongoSchemaIds(db)
  const missing: string[] = []
  for (const name of Object.keys(MESSAGES) as MessageName[]) {
    if ((await schemaIds.idOf(schemaKey(name))) === undefined) missing.push(`schema of ${name}`)
  }
  return missing
}

/** Lists the schemas that the registry does not have. @throws AppError `unavailable` */
export async function findMissingRegistered(registry: SchemaRegistry, topicPrefix: string): Promise<string[]> {
  const missing: string[] = []
  for (const name of Object.keys(MESSAGES) as MessageName[]) {
    const subject = registrySubject(name, topicPrefix)
    const id = await findSchemaId(registry, subject, schemaText(registrySchema(name)))
    if (id === undefined) missing.push(`schema ${subject} in the registry`)
  }
  return missing
}
