import type { ConnectionDocument, TopicName } from '@backstop/contracts'
import { createTopicAdmin, type TopicAdmin } from '@backstop/kit/bus'
import { type AppError, isMissingRight } from '@backstop/kit/errors'
import { createLogger } from '@backstop/kit/logger'
import { asUnavailable, connectMongo, type Mongo } from '@backstop/kit/mongo'
import { createHttpExchange, createSchemaRegistry } from '@backstop/kit/registry'
import { createSecretBox, type KeyRing } from '@backstop/kit/secret-box'
import {
  type CredentialConfig,
  kafkaCredentials,
  mongoTls,
  refusalMessage,
  registryCredentials,
} from '@backstop/kit/service'
import {
  findMissingCollections,
  findMissingRegistered,
  findMissingSchemas,
  findMissingTopics,
} from '@backstop/provision'
import { counted } from '../output/rules/counted.ts'
import { describeCause } from './describe-cause.ts'
import { type Finding, finding } from './rules/finding.ts'
import { wrongSecretKey } from './rules/judge-api.ts'
import {
  type ClockReading,
  judgeDisk,
  judgeLag,
  judgeMissing,
  type Lag,
  REFUSED,
} from './rules/judge-infrastructure.ts'
import type { Infrastructure } from './settings.ts'

/** The limits beyond which doctor reports a fault. */
export interface Limits {
  /** Older messages that are not processed are a lag. */
  readonly lagMs: number
  /** From 0 to 1. */
  readonly diskUse: number
}

/** Which consumer reads which topics, without the delay lines, whose messages wait on purpose. */
export const CONSUMERS: Readonly<Record<string, readonly TopicName[]>> = {
  reconciler: [
    'inbound.processor',
    'inbound.reseller',
    'inbound.subscription',
    'operations',
    'rechecks.due',
    'readbacks',
  ],
  'reconciler.commands': ['commands'],
  'reconciler.rereads': ['rereads'],
  notifier: ['alerts'],
  'notifier.deliveries': ['deliveries'],
  'notifier.commands': ['commands'],
  'notifier.dead-letters': ['deliveries.dead', 'inbound.dead'],
}

/** Checks topics and consumers. */
export async function checkKafka(
  brokers: readonly string[],
  topicPrefix: string,
  credentials: CredentialConfig,
  limits: Limits,
  now: () => number,
): Promise<Finding[]> {
  const logger = createLogger('doctor', 'silent')
  const admin = createTopicAdmin({ brokers, clientId: 'backstop-doctor', logger, ...kafkaCredentials(credentials) })
  try {
    await admin.connect()
    const missing = await findMissingTopics(admin, topicPrefix)
    const absent = new Set(missing.map(text => text.replace(/^topic /, '')))
    return [
      ...judgeMissing('topic_missing', missing),
      ...judgeLag(await readLags(admin, topicPrefix, absent, now() - limits.lagMs), limits.lagMs),
    ]
  } catch (error) {
    const refused = refusalMessage('kafka', error, credentials)
    if (refused !== undefined) return [finding('kafka_down', refused, REFUSED)]
    if (isMissingRight(error)) return [missingRightFinding(error)]
    const remedy = 'Start Kafka, and check that its disk has space and that KAFKA_BROKERS names its brokers'
    return [finding('kafka_down', `Kafka does not answer at ${brokers.join(', ')}${describeCause(error)}`, remedy)]
  } finally {
    await admin.stop().catch(() => {})
  }
}

async function readLags(
  admin: TopicAdmin,
  topicPrefix: string,
  absent: ReadonlySet<string>,
  beforeMs: number,
): Promise<Lag[]> {
  const lags: Lag[] = []
  for (const [group, topics] of Object.entries(CONSUMERS)) {
    for (const name of topics) {
      const [groupId, topic] = [topicPrefix + group, topicPrefix + name]
      if (!absent.has(topic)) lags.push({ groupId, topic, messages: await admin.unread(groupId, topic, beforeMs) })
    }
  }
  return lags
}

/** Checks collections, indexes, schema ids, stored secrets, the disk and the clock of MongoDB. */
export async function checkMongo(
  address: NonNullable<Infrastructure['mongo']>,
  credentials: CredentialConfig,
  secretKeys: KeyRing | undefined,
  limits: Limits,
  now: () => number,
): Promise<{ findings: Finding[]; clock: ClockReading | undefined }> {
  const mongo = connectMongo({ ...address, appName: 'backstop-doctor', tls: mongoTls(credentials) })
  try {
    await mongo.ping()
    const clock = await readMongoClock(mongo, now)
    const stats = await asUnavailable(() => mongo.db.command({ dbStats: 1 }))
    const disk = {
      host: 'MongoDB',
      usedBytes: Number(stats.fsUsedSize ?? 0),
      totalBytes: Number(stats.fsTotalSize ?? 0),
    }
    const findings = [
      ...judgeMissing('index_missing', await findMissingCollections(mongo.db)),
      ...judgeMissing('schema_missing', await findMissingSchemas(mongo.db)),
      ...(secretKeys === undefined ? [] : await checkSecrets(mongo, secretKeys)),
      ...judgeDisk(disk, limits.diskUse),
    ]
    return { findings, clock }
  } catch (error) {
    const refused = refusalMessage('mongo', error, credentials)
    if (refused !== undefined) return { findings: [finding('mongo_down', refused, REFUSED)], clock: undefined }
    if (isMissingRight(error)) return { findings: [missingRightFinding(error)], clock: undefined }
    const remedy =
      'Start MongoDB, and check that its disk has space and that MONGO_URL has its address and a user who may read'
    return {
      findings: [finding('mongo_down', `MongoDB does not answer${describeCause(error)}`, remedy)],
      clock: undefined,
    }
  } finally {
    await mongo.stop()
  }
}

async function readMongoClock({ db }: Mongo, now: () => number): Promise<ClockReading> {
  const sentAtMs = now()
  const { localTime } = await asUnavailable(() => db.command({ hello: 1 }))
  const tripMs = now() - sentAtMs
  return { host: 'MongoDB', aheadMs: Number(localTime) - sentAtMs - tripMs / 2, errorMs: tripMs / 2 }
}

/** Decrypts the stored secrets of all connections with the keys of SECRET_KEYS. */
async function checkSecrets({ db }: Mongo, secretKeys: KeyRing): Promise<Finding[]> {
  const box = createSecretBox(secretKeys)
  const unreadable: string[] = []
  const connections = db
    .collection<ConnectionDocument>('connections')
    .find({}, { projection: { project_id: 1, inbound_secrets: 1, read_key: 1 } })
  for await (const { _id: id, project_id: projectId, inbound_secrets = [], read_key } of connections) {
    const sealed = [
      ...inbound_secrets.map(secret => ({ field: 'inbound_secret', text: secret.sealed })),
      ...(read_key ? [{ field: 'read_key', text: read_key.sealed }] : []),
    ]
    const isReadable = sealed.every(({ field, text }) => {
      try {
        box.open(text, { collection: 'connections', id, field, projectId })
        return true
      } catch {
        return false
      }
    })
    if (!isReadable) unreadable.push(id)
  }
  if (unreadable.length === 0) return []
  const named = `${unreadable.slice(0, 3).join(', ')}${unreadable.length > 3 ? ', …' : ''}`
  return [
    wrongSecretKey(
      `SECRET_KEYS does not decrypt the secrets of ${counted(unreadable.length, 'connection')} (${named})`,
    ),
  ]
}

/** Checks that the registry has every schema. */
export async function checkRegistry(
  url: string,
  topicPrefix: string,
  credentials: CredentialConfig,
): Promise<Finding[]> {
  try {
    const registry = createSchemaRegistry(url, createHttpExchange(registryCredentials(credentials)))
    return judgeMissing('schema_missing', await findMissingRegistered(registry, topicPrefix))
  } catch (error) {
    const refused = refusalMessage('registry', error, credentials)
    if (refused !== undefined) return [finding('registry_down', refused, REFUSED)]
    const remedy =
      'Start the schema registry, restart it if it hangs, and check that SCHEMA_REGISTRY_URL has its address. Running services go on meanwhile'
    return [finding('registry_down', `The schema registry cannot be used${describeCause(error)}`, remedy)]
  }
}

function missingRightFinding({ message }: AppError): Finding {
  return finding('missing_right', message, 'docs/rights.md has the rights of each program, and commands that give them')
}
