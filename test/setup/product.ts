/** Starts the real services as processes. They use the Kafka, MongoDB and registry of the test run. */
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createTopicAdmin } from '@backstop/kit/bus'
import { Secret } from '@backstop/kit/config'
import { createLogger } from '@backstop/kit/logger'
import { connectMongo } from '@backstop/kit/mongo'
import { deleteTopics } from '@backstop/kit/test'
import { provision } from '@backstop/provision'
import type { StackUrls } from '@backstop/stack'
import { type Product, type ProductOptions, startProduct } from '../../scripts/start/product.ts'
import { databaseName } from '../../scripts/start/service-environment.ts'

/**
 * The URLs of the stack of this test run, from the environment.
 * @throws Error that names the missing variable, so that a test fails if it cannot run
 */
export function stackUrls(): StackUrls {
  const read = (name: string) => {
    const value = process.env[name]
    if (value === undefined || value === '') throw new Error(`${name} is not set; run the tests with npm test`)
    return value
  }
  return {
    kafka: read('BACKSTOP_TEST_KAFKA'),
    mongo: read('BACKSTOP_TEST_MONGO'),
    registry: read('BACKSTOP_TEST_REGISTRY'),
    smtp: read('BACKSTOP_TEST_SMTP'),
    mail: read('BACKSTOP_TEST_MAIL'),
  }
}

/** The environment with which `npm start` uses the stack of this test run. */
export function givenStack() {
  const { kafka, mongo, registry, smtp, mail } = stackUrls()
  return { KAFKA_BROKERS: kafka, MONGO_URL: mongo, SCHEMA_REGISTRY_URL: registry, SMTP_URL: smtp, MAIL_URL: mail }
}

/** The folder for the logs and secrets of this test run's products. `npm test` removes it unless a test failed. */
export function dataFolder(name: string): string {
  const base = process.env.BACKSTOP_TEST_DATA ?? resolve(import.meta.dirname, '../../.backstop/test')
  const folder = join(base, `${name}-${process.pid}`)
  mkdirSync(folder, { recursive: true })
  return folder
}

/** Creates the topics, schemas and indexes as the deploy job does, without its process. For `provision` of a product. */
function createProvision(maxPartitions?: number): NonNullable<ProductOptions['provision']> {
  const logger = createLogger('test', 'silent', process.stderr)
  return ({ kafka, mongo, registry }, topicPrefix) =>
    provision({
      kafka: { brokers: kafka.split(','), clientId: 'test', logger },
      topicPrefix,
      durability: { replication: 1, minInsync: 1 },
      ...(maxPartitions === undefined ? {} : { maxPartitions }),
      mongo: { url: new Secret(mongo), dbName: databaseName(topicPrefix) },
      registryUrl: registry,
      waitMs: PROVISION_MS,
      report: () => {},
    })
}
const PROVISION_MS = 180_000
/** Enough for several instances of a service, and cheaper for the broker and the consumers than all partitions. */
export const FEW_PARTITIONS = createProvision(3)
export const ALL_PARTITIONS = createProvision()

/**
 * Starts a product on the shared stack, with few partitions. Its topics, consumer groups and database have its name, so that tests do not
 * meet. Its stop deletes them, because an unused topic still costs the broker processor time. With other `stackUrls` they stay, and the
 * deploy job runs.
 * @param name lower-case letters, digits and dashes
 */
export async function openProduct(name: string, options: Partial<ProductOptions> = {}): Promise<Product> {
  const product = await startProduct({
    dataDir: dataFolder(name),
    env: process.env,
    stackUrls: stackUrls(),
    topicPrefix: `${name}-${process.pid}-${Date.now().toString(36)}.`,
    ...(options.stackUrls === undefined && { provision: FEW_PARTITIONS }),
    ...options,
  })
  if (options.stackUrls !== undefined) return product
  return {
    ...product,
    async stop() {
      await product.stop()
      await removeData(product)
    },
  }
}

/** Deletes the topics and the database of a product whose services have ended. */
export async function removeData({ topicPrefix, database, urls }: Product): Promise<void> {
  const logger = createLogger('test', 'silent', process.stderr)
  const admin = createTopicAdmin({ brokers: urls.kafka.split(','), clientId: 'test', logger })
  const mongo = connectMongo({ url: new Secret(urls.mongo), dbName: database, appName: 'test' })
  try {
    await admin.connect()
    await deleteTopics(admin, topicPrefix)
    await mongo.db.dropDatabase()
  } finally {
    await Promise.all([admin.stop(), mongo.stop()])
  }
}

/** A product that several files of tests share, because its start takes more processor time than most tests. */
export interface SharedProduct {
  open(): Promise<void>
  /** @throws Error before `open` */
  get(): Product
  close(): Promise<void>
}

/** @param name and options as for openProduct */
export function createSharedProduct(name: string, options: Partial<ProductOptions> = {}): SharedProduct {
  let product: Product | undefined
  return {
    async open() {
      product = await openProduct(name, options)
    },
    get() {
      if (product === undefined) throw new Error(`The product "${name}" is not started`)
      return product
    },
    async close() {
      await product?.stop()
    },
  }
}
