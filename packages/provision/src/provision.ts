import {
  connectMongo,
  createMongoSchemaIds,
  createSchemaRegistry,
  createTopicAdmin,
  type KafkaConnection,
  type Secret,
} from '@backstop/kit'
import { provisionCollections } from './indexes.ts'
import type { Report } from './report.ts'
import { provisionSchemas } from './schemas.ts'
import type { Durability } from './topic-plan.ts'
import { provisionTopics } from './topics.ts'
import { waitUntilUp } from './wait-until-up.ts'

export interface ProvisionOptions {
  readonly kafka: KafkaConnection
  /** Stands before every topic's and registry subject's name; empty for one installation per Kafka. */
  readonly topicPrefix: string
  readonly durability: Durability
  readonly mongo: { readonly url: Secret; readonly dbName: string }
  readonly registryUrl: string
  /** How long to wait for Kafka, MongoDB and the registry to come up, in milliseconds. */
  readonly waitMs: number
  readonly report: Report
}

/**
 * Makes everything that the services find when they start: topics, schemas, collections and indexes. Safe to run again
 * and beside another run of itself.
 * @throws AppError `conflict` when something exists in a form that this job may not change, `unavailable` when a part
 *   did not come up in time
 */
export async function provision(options: ProvisionOptions): Promise<void> {
  const { report } = options
  const deadline = performance.now() + options.waitMs
  const admin = createTopicAdmin(options.kafka)
  const mongo = connectMongo({ ...options.mongo, appName: 'backstop-provision' })
  try {
    await waitUntilUp('Kafka', () => admin.connect(), deadline, report)
    await provisionTopics(admin, options.topicPrefix, options.durability, report)
    await waitUntilUp('MongoDB', () => mongo.ping(), deadline, report)
    await provisionCollections(mongo.db, report)
    const registry = createSchemaRegistry(options.registryUrl)
    const schemaIds = createMongoSchemaIds(mongo.db)
    const register = () => provisionSchemas(registry, schemaIds, options.topicPrefix, new Date(), report)
    await waitUntilUp('the schema registry', register, deadline, report)
  } finally {
    await Promise.allSettled([admin.stop(), mongo.stop()])
  }
}
