/** A provisioned stack for the integration tests of other packages. */
import { TOPICS, type TopicName } from '@backstop/contracts'
import { connectMongo } from '@backstop/kit/mongo'
import { createMongoSchemaIds, createSchemaRegistry } from '@backstop/kit/registry'
import { type TestStack, testStack } from '@backstop/kit/test'
import { provisionCollections } from '../src/indexes.ts'
import { provisionSchemas } from '../src/schemas.ts'

/**
 * Opens a test stack with all topics, collections, indexes and schemas. Each topic has one partition, because creating the 300
 * partitions of an installation takes the broker longer than most tests. provision.integration-test.ts tests those.
 */
export async function provisionTestStack(): Promise<TestStack> {
  const stack = await testStack()
  const mongo = connectMongo({ url: stack.mongoUrl, dbName: stack.dbName, appName: 'backstop-provision' })
  const ignore = () => {}
  try {
    await Promise.all([
      stack.createTopics(Object.keys(TOPICS) as TopicName[], 1),
      provisionCollections(mongo.db, ignore),
    ])
    const registry = createSchemaRegistry(stack.registryUrl)
    await provisionSchemas(registry, createMongoSchemaIds(mongo.db), stack.topicPrefix, new Date(), ignore)
  } finally {
    await mongo.stop()
  }
  return stack
}
