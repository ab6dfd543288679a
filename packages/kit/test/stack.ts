import { randomBytes } from 'node:crypto'
import { TOPICS, type TopicName } from '@backstop/contracts'
import { MongoClient } from 'mongodb'
import type { Bus } from '../src/bus/bus.ts'
import { createKafkaBus, type KafkaBusOptions } from '../src/bus/kafka-bus.ts'
import type { KafkaConnection } from '../src/bus/kafkajs/client.ts'
import { createTopicAdmin, type TopicAdmin } from '../src/bus/topic-admin.ts'
import { Secret } from '../src/config/secret.ts'
import { createLogger, type Logger } from '../src/logger.ts'
import { until } from './until.ts'

/** The real parts for integration tests. Each test file uses its own names in them. */
export interface TestStack {
  readonly kafkaBrokers: readonly string[]
  /** A prefix unique to this stack object, for every topic, group and registry subject. */
  readonly topicPrefix: string
  readonly mongoUrl: Secret
  /** A database name unique to this stack object; `close` drops the database. */
  readonly dbName: string
  /** Base URL of the registry's Confluent-compatible API. */
  readonly registryUrl: string
  readonly smtpUrl: string
  /** Base URL of the mail catcher's web page and API. */
  readonly mailUrl: string
  /** Silent by default; LOG_LEVEL sets its level. */
  readonly logger: Logger
  readonly admin: TopicAdmin
  kafka(overrides?: Partial<KafkaConnection>): KafkaConnection
  bus(overrides?: Partial<KafkaBusOptions>): Bus
  /** Creates these topics with the given number of partitions, or by default the number in the contracts. */
  createTopics(names: readonly TopicName[], partitions?: number): Promise<void>
  /** Deletes this stack's topics and its database. */
  close(): Promise<void>
}

/**
 * Connects to the parts named by the BACKSTOP_TEST_* variables.
 * @throws if a variable is missing: a test that cannot run must fail, not be skipped
 */
export async function testStack(environment: NodeJS.ProcessEnv = process.env): Promise<TestStack> {
  const required = (name: string): string => {
    const value = environment[name]
    if (value === undefined || value === '') {
      throw new Error(`${name} is not set: run the tests by npm test, which brings the stack up and names its parts`)
    }
    return value
  }
  const tag = `t${randomBytes(5).toString('hex')}`
  const topicPrefix = `${tag}.`
  const kafkaBrokers = required('BACKSTOP_TEST_KAFKA').split(',')
  const mongoUrl = new Secret(required('BACKSTOP_TEST_MONGO'))
  const logger = createLogger('test', environment.LOG_LEVEL ?? 'silent', process.stderr)
  const kafka = (overrides: Partial<KafkaConnection> = {}) => ({
    brokers: kafkaBrokers,
    clientId: tag,
    logger,
    ...overrides,
  })
  const admin = createTopicAdmin(kafka())
  await admin.connect()
  return {
    kafkaBrokers,
    topicPrefix,
    mongoUrl,
    dbName: tag,
    registryUrl: required('BACKSTOP_TEST_REGISTRY'),
    smtpUrl: required('BACKSTOP_TEST_SMTP'),
    mailUrl: required('BACKSTOP_TEST_MAIL'),
    logger,
    admin,
    kafka,
    bus: (overrides = {}) => createKafkaBus({ ...kafka(), topicPrefix, sessionTimeoutMs: 6_000, ...overrides }),
    async createTopics(names, partitions) {
      const topics = names.map(name => ({
        name: topicPrefix + name,
        partitions: partitions ?? TOPICS[name].partitions,
        replication: 1,
        config: {
          'max.message.bytes': String(TOPICS[name].maxMessageBytes),
          'message.timestamp.type': TOPICS[name].timestampType,
        },
      }))
      await until('topics with leaders', () => admin.create(topics).then(() => true))
    },
    async close() {
      await deleteTopics(admin, topicPrefix)
      await admin.stop()
      const client = new MongoClient(mongoUrl.reveal())
      await client.db(tag).dropDatabase()
      await client.close()
    },
  }
}

/** Deletes all topics with the prefix that exist. Kafka may be too busy to answer in time, so it repeats. */
export async function deleteTopics(admin: TopicAdmin, topicPrefix: string): Promise<void> {
  const names = (Object.keys(TOPICS) as TopicName[]).map(name => topicPrefix + name)
  await until('no topic is left', async () => {
    const existing = await admin.describe(names)
    if (existing.length > 0) await admin.delete(existing.map(({ name }) => name))
    return true
  })
}
