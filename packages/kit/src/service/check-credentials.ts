import { MESSAGES, type MessageName, registrySubject } from '@backstop/contracts'
import type { KafkaConnection } from '../bus/kafkajs-client.ts'
import { createKafkajsClient } from '../bus/kafkajs-client.ts'
import { waitUntilSettled, withDeadline } from '../clock/with-deadline.ts'
import type { Secret } from '../config/secret.ts'
import { watchCredentials } from '../credentials/credential-watch.ts'
import { describeRefusal, findRefusal, type RefusalContext } from '../credentials/refusal.ts'
import { AppError } from '../errors.ts'
import { createLogger } from '../logger.ts'
import { hasCredentials } from '../mongo/live-credentials.ts'
import { connectMongo } from '../mongo/mongo.ts'
import { createHttpExchange } from '../registry/registry-exchange.ts'
import { createSchemaRegistry, findSchemaId } from '../registry/schema-registry.ts'
import {
  type CredentialConfig,
  kafkaCredentials,
  kafkaRefusalContext,
  mongoRefusalContext,
  mongoTls,
  registryCredentials,
  registryRefusalContext,
} from './connections.ts'

/** The dependencies to try. A program that does not use the registry leaves its URL out. */
export interface CheckedConfig extends CredentialConfig {
  readonly KAFKA_BROKERS: readonly string[]
  readonly MONGO_URL: Secret
  readonly SCHEMA_REGISTRY_URL?: string
}

/** The longest time that the check may delay a start while a dependency does not answer, in milliseconds. */
const CHECK_MS = 5_000
const CLEAN_UP_MS = 1_000

/**
 * Tries the credentials before a program starts, so that wrong ones end it with one message instead of with the log lines of
 * all its clients. A dependency that does not answer passes: the program waits for it as without credentials.
 * @throws AppError `config_invalid` that names the settings to correct
 */
export async function checkCredentials(config: CheckedConfig): Promise<void> {
  const refusals = await Promise.all([tryKafka(config), tryMongo(config), tryRegistry(config)])
  const messages = refusals.filter(message => message !== undefined)
  if (messages.length > 0) throw new AppError('config_invalid', messages.join('; '))
}

async function tryKafka(config: CheckedConfig): Promise<string | undefined> {
  const credentials = kafkaCredentials(config)
  if (credentials.tls === undefined && credentials.sasl === undefined) return undefined
  const connection: KafkaConnection = {
    brokers: config.KAFKA_BROKERS,
    clientId: 'backstop-credentials',
    logger: createLogger('credentials', 'silent'),
    ...credentials,
  }
  // A retry asks the next bootstrap broker.
  const admin = createKafkajsClient(connection, { retries: 1, initialRetryTime: 50, maxRetryTime: 50 }).admin()
  const failure = await failureOf(admin.connect())
  void waitUntilSettled(admin.disconnect(), CLEAN_UP_MS)
  return messageOf(failure, () => kafkaRefusalContext(credentials))
}

async function tryMongo(config: CheckedConfig): Promise<string | undefined> {
  const tls = mongoTls(config)
  if (tls === undefined && !hasCredentials(config.MONGO_URL.reveal())) return undefined
  const refused = Promise.withResolvers<void>()
  const context = () => mongoRefusalContext(tls)
  const logger = createLogger('credentials', 'silent')
  const watch = watchCredentials({ context, logger, onFatal: refused.reject })
  const mongo = connectMongo({ url: config.MONGO_URL, dbName: 'admin', appName: 'backstop-credentials', tls, watch })
  const failure = await failureOf(Promise.race([refused.promise, mongo.ping()]))
  await waitUntilSettled(mongo.stop(), CLEAN_UP_MS)
  watch.stop()
  if (failure instanceof AppError && failure.code === 'config_invalid') return failure.message
  return messageOf(failure, context)
}

async function tryRegistry(config: CheckedConfig): Promise<string | undefined> {
  const { SCHEMA_REGISTRY_URL: url } = config
  const credentials = registryCredentials(config)
  if (url === undefined) return undefined
  const { protocol, username } = new URL(url)
  if (protocol === 'http:' && username === '' && credentials.login === undefined) return undefined
  const registry = createSchemaRegistry(url, createHttpExchange(credentials))
  const [name] = Object.keys(MESSAGES) as [MessageName]
  const failure = await failureOf(findSchemaId(registry, registrySubject(name, ''), '{}'))
  return messageOf(failure, () => registryRefusalContext(credentials))
}

/** The error of the attempt; undefined if it succeeded or did not end in time. */
async function failureOf(attempt: Promise<unknown>): Promise<unknown> {
  return withDeadline(attempt, CHECK_MS, () => new Error('No answer in time')).then(
    () => undefined,
    (error: unknown) => error,
  )
}

function messageOf(failure: unknown, context: () => RefusalContext): string | undefined {
  const refusal = findRefusal(failure)
  return refusal === undefined ? undefined : describeRefusal(refusal, context())
}
