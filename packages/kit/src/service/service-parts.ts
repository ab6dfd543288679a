import type { ServiceName } from '@backstop/contracts'
import type { Bus } from '../bus/bus.ts'
import { createKafkaAvailability, type KafkaAvailability } from '../bus/kafka-availability.ts'
import { createKafkaBus } from '../bus/kafka-bus.ts'
import { probeKafka } from '../bus/probe-kafka.ts'
import { MeasuredClock } from '../clock/measured-clock.ts'
import type { Secret } from '../config/secret.ts'
import { CredentialWatch } from '../credentials/credential-watch.ts'
import { createLogger, type Logger } from '../logger.ts'
import { connectMongo, type Mongo, type MongoOptions } from '../mongo/mongo.ts'
import { readMongoTime } from '../mongo/mongo-time.ts'
import { probeMongo } from '../mongo/probe-mongo.ts'
import { buildVersion, recordBuildInfo } from '../ops/build-info.ts'
import { createMetrics, type Metrics } from '../ops/metrics.ts'
import type { MessageCodec } from '../registry/message-codec.ts'
import { createRegistryCodec } from '../registry/registry-codec.ts'
import { createHttpExchange } from '../registry/registry-exchange.ts'
import { createMongoSchemaIds } from '../registry/schema-id-store.ts'
import { startTracing, type TracingConfig } from '../tracing/start-tracing.ts'
import type { Tracing } from '../tracing/tracing.ts'
import { checkCredentials } from './check-credentials.ts'
import {
  type CredentialConfig,
  kafkaCredentials,
  kafkaRefusalContext,
  mongoRefusalContext,
  mongoTls,
  registryCredentials,
} from './connections.ts'
import type { Precondition } from './preconditions.ts'
import { createMongoProcessEntry, type ProcessEntry } from './process-report.ts'
import { requireRights } from './required-rights.ts'

/** The settings of `commonSettings` that the shared parts need. */
export interface CommonConfig extends CredentialConfig, TracingConfig {
  readonly LOG_LEVEL: string
  readonly KAFKA_BROKERS: string[]
  readonly KAFKA_TOPIC_PREFIX: string
  readonly MONGO_URL: Secret
  readonly MONGO_DB: string
  readonly SCHEMA_REGISTRY_URL: string
}

/** The parts that every service uses. */
export interface ServiceParts {
  readonly logger: Logger
  readonly metrics: Metrics
  /** Undefined if traces are off. */
  readonly tracing: Tracing | undefined
  readonly mongo: Mongo
  readonly bus: Bus
  /** Whether Kafka answers. */
  readonly kafka: KafkaAvailability
  readonly processEntry: ProcessEntry
  /** The only time base of the process. No decision may use it before it is measured. */
  readonly clock: MeasuredClock
  /**
   * Resolves when the ids of all schemas are known, from the registry or, if it is unavailable, from MongoDB.
   * @param waitMs how long to try; the codec's default if not set
   */
  openCodec(waitMs?: number): Promise<MessageCodec>
  /** Requires the rights of the service's users at MongoDB and Kafka. */
  readonly requireRights: Precondition
  /** Reports that the service cannot continue: the process drains and exits. */
  onFatal(error: unknown): void
  /** Resolves with the first error passed to `onFatal`. */
  readonly failed: Promise<unknown>
}

/**
 * Creates the real parts of a service process, after a check of the credentials. It does not wait for dependencies, because
 * each part connects on first use.
 * @param mongoOptions replace the defaults
 * @throws AppError `config_invalid` if a dependency refuses the credentials
 */
export async function openServiceParts(
  service: ServiceName,
  config: CommonConfig,
  mongoOptions: Pick<MongoOptions, 'retryWrites'> = {},
): Promise<ServiceParts> {
  await checkCredentials(config)
  const appName = `backstop-${service}`
  const topicPrefix = config.KAFKA_TOPIC_PREFIX
  const logger = createLogger(service, config.LOG_LEVEL)
  const failure = Promise.withResolvers<unknown>()
  const metrics = createMetrics(service, { processMetrics: true })
  recordBuildInfo(metrics, config.BACKSTOP_REVISION)
  const tracing = await startTracing(service, config, logger)
  const mongo = connectMongo({
    url: config.MONGO_URL,
    dbName: config.MONGO_DB,
    appName,
    metrics,
    ...watchedMongo(config, logger, failure.resolve),
    ...mongoOptions,
  })
  const kafka = {
    brokers: config.KAFKA_BROKERS,
    clientId: appName,
    logger,
    ...watchedKafka(config, logger, failure.resolve),
  }
  const clock = new MeasuredClock({ readTime: () => readMongoTime(mongo), logger, metrics })
  clock.start()
  const availability = createKafkaAvailability(kafka)
  availability.start()
  const registryAnswered = metrics.gauge(
    'schema_registry_answered',
    '1 once the schema registry has answered since the start of the process',
    [],
  )
  return {
    onFatal: failure.resolve,
    failed: failure.promise,
    requireRights: requireRights(service, { db: mongo.db, kafka, topicPrefix }),
    logger,
    metrics,
    tracing,
    mongo,
    bus: createKafkaBus({ ...kafka, topicPrefix, now: clock.now, metrics }),
    kafka: availability,
    clock,
    processEntry: createMongoProcessEntry(mongo.db, service, buildVersion(config.BACKSTOP_REVISION)),
    openCodec: waitMs =>
      createRegistryCodec({
        registryUrl: config.SCHEMA_REGISTRY_URL,
        exchange: createHttpExchange(registryCredentials(config)),
        topicPrefix,
        schemaIds: createMongoSchemaIds(mongo.db),
        logger,
        onRegistryAnswer: () => registryAnswered.set(1),
        ...(waitMs === undefined ? {} : { waitMs }),
      }),
  }
}

/**
 * Waits for a step of the start.
 * @throws the error passed to `onFatal`, if there is one first: credentials may be refused by a dependency that answers late
 */
export function unlessFailed<T>({ failed }: Pick<ServiceParts, 'failed'>, step: Promise<T>): Promise<T> {
  const failure = failed.then((error): never => {
    throw error
  })
  return Promise.race([step, failure])
}

function watchedKafka(config: CommonConfig, logger: Logger, onFatal: (error: unknown) => void) {
  const credentials = kafkaCredentials(config)
  const context = () => kafkaRefusalContext(credentials)
  const probe = () => probeKafka({ brokers: config.KAFKA_BROKERS, ...credentials })
  return { ...credentials, watch: new CredentialWatch({ context, logger, probe, onFatal }) }
}

function watchedMongo(config: CommonConfig, logger: Logger, onFatal: (error: unknown) => void) {
  const tls = mongoTls(config)
  const context = () => mongoRefusalContext(tls)
  const probe = () => probeMongo({ url: config.MONGO_URL, tls })
  return { tls, watch: new CredentialWatch({ context, logger, probe, onFatal }) }
}
