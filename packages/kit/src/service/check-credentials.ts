import { MESSAGES, type MessageName, registrySubject } from '@backstop/contracts'
import { probeKafka } from '../bus/probe-kafka.ts'
import { withDeadline } from '../clock/with-deadline.ts'
import type { Secret } from '../config/secret.ts'
import { describeRefusal, findRefusal, type RefusalContext } from '../credentials/refusal.ts'
import { judgeServers, type Verdict } from '../credentials/verdict.ts'
import { AppError } from '../errors.ts'
import { hasCredentials } from '../mongo/live-credentials.ts'
import { probeMongo } from '../mongo/probe-mongo.ts'
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

/** Short, because services start without the registry, and a registry that refuses credentials does so at once. In milliseconds. */
const REGISTRY_PROBE_MS = 2_000

/** The dependencies to try. A program that does not use the registry leaves its URL out. */
export interface CheckedConfig extends CredentialConfig {
  readonly KAFKA_BROKERS: readonly string[]
  readonly MONGO_URL: Secret
  readonly SCHEMA_REGISTRY_URL?: string
}

/**
 * Tries the credentials before a program starts, so that wrong ones end it with one message instead of with the log lines of
 * all its clients. A dependency passes if it does not answer, or if only some of its servers refuse: the program waits for it as
 * without credentials.
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
  const verdict = await probeKafka({ brokers: config.KAFKA_BROKERS, ...credentials })
  return messageOf(verdict, () => kafkaRefusalContext(credentials))
}

async function tryMongo(config: CheckedConfig): Promise<string | undefined> {
  const tls = mongoTls(config)
  if (tls === undefined && !hasCredentials(config.MONGO_URL.reveal())) return undefined
  const verdict = await probeMongo({ url: config.MONGO_URL, tls })
  return messageOf(verdict, () => mongoRefusalContext(tls))
}

async function tryRegistry(config: CheckedConfig): Promise<string | undefined> {
  const { SCHEMA_REGISTRY_URL: url } = config
  const credentials = registryCredentials(config)
  if (url === undefined) return undefined
  const { protocol, username } = new URL(url)
  if (protocol === 'http:' && username === '' && credentials.login === undefined) return undefined
  const registry = createSchemaRegistry(url, createHttpExchange(credentials))
  const [name] = Object.keys(MESSAGES) as [MessageName]
  const attempt = findSchemaId(registry, registrySubject(name, ''), '{}')
  const verdict = await withDeadline(attempt, REGISTRY_PROBE_MS, () => new Error('No answer in time')).then(
    () => judgeServers(['accepted']),
    (error: unknown) => judgeServers([findRefusal(error) ?? 'no_answer']),
  )
  return messageOf(verdict, () => registryRefusalContext(credentials))
}

function messageOf(verdict: Verdict, context: () => RefusalContext): string | undefined {
  return verdict.kind === 'refused' ? describeRefusal(verdict.refusal, context()) : undefined
}
