import { createTopicAdmin, type KafkaConnection } from '@backstop/kit/bus'
import type { Secret } from '@backstop/kit/config'
import type { TlsMaterial } from '@backstop/kit/credentials'
import { connectMongo } from '@backstop/kit/mongo'
import { createMongoSchemaIds, createSchemaRegistry, type RegistryExchange } from '@backstop/kit/registry'
import { provisionCollections } from './indexes.ts'
import type { Report } from './report.ts'
import { provisionSchemas } from './schemas.ts'
import { type Durability, wantedTopics } from './topics/plan-topics.ts'
import { provisionTopics } from './topics/provision-topics.ts'
import { waitUntilUp } from './wait-until-up.ts'

export interface ProvisionOptions {
  readonly kafka: KafkaConnection
  /** Prefix of every topic and registry subject; empty if the installation has its own Kafka. */
  readonly topicPrefix: string
  readonly durability: Durability
  /** The largest number of partitions of a topic; that of the contracts by default. Tests need fewer, which cost the broker less. */
  readonly maxPartitions?: number
  readonly mongo: { readonly url: Secret; readonly dbName: string; readonly tls?: TlsMaterial | undefined }
  readonly registryUrl: string
  /** Over HTTP without credentials by default. */
  readonly registryExchange?: RegistryExchange
  /** How long to wait for Kafka, MongoDB and the registry, in milliseconds. */
  readonly waitMs: number
  readonly report: Report
}

/**
 * Creates the topics, schemas, collections and indexes that the services need at their start. Safe to repeat, and to
 * run twice at the same time.
 * @throws AppError `conflict` if something exists in a form that this job may not change; `unavailable` if a dependency
 * was not available in time
 */
export async function provision(options: ProvisionOptions): Promise<void> {
  const { report } = options
  const deadline = performance.now() + options.waitMs
  const admin = createTopicAdmin(options.kafka)
  // An index on a large collection takes minutes. A server that hangs is noticed by the driver's own heartbeats.
  const mongo = connectMongo({ ...options.mongo, appName: 'backstop-provision', answerWithinMs: 0 })
  try {
    await waitUntilUp('Kafka', () => admin.connect(), deadline, report)
    const wanted = wantedTopics(options.topicPrefix, options.durability, options.maxPartitions)
    const topics = () => provisionTopics(admin, wanted, report)
    await waitUntilUp('Kafka', topics, deadline, report)
    await waitUntilUp('MongoDB', () => mongo.ping(), deadline, report)
    await provisionCollections(mongo.db, report)
    const registry = createSchemaRegistry(options.registryUrl, options.registryExchange)
    const schemaIds = createMongoSchemaIds(mongo.db)
    const register = () => provisionSchemas(registry, schemaIds, options.topicPrefix, new Date(), report)
    await waitUntilUp('the schema registry', register, deadline, report)
  } finally {
    await Promise.allSettled([admin.stop(), mongo.stop()])
  }
}
