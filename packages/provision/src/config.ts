import { isIPv6 } from 'node:net'
import { type Environment, readConfig, setting } from '@backstop/kit/config'
import { AppError } from '@backstop/kit/errors'
import { keyRingSetting } from '@backstop/kit/secret-box'
import { commonSettings, credentialSettings, readServiceConfig } from '@backstop/kit/service'
import type { ForbiddenTarget } from './network-policy/rules/judge-attempts.ts'

const { LOG_LEVEL, KAFKA_BROKERS, KAFKA_TOPIC_PREFIX, MONGO_URL, MONGO_DB, SCHEMA_REGISTRY_URL } = commonSettings

/** The deploy job's settings, by their environment names. */
export const provisionSettings = {
  LOG_LEVEL,
  KAFKA_BROKERS,
  KAFKA_TOPIC_PREFIX,
  MONGO_URL,
  MONGO_DB,
  SCHEMA_REGISTRY_URL,
  ...credentialSettings,
  TOPIC_REPLICATION: setting.integer(1, 1, 15).describe('Copies of every partition; 3 in production'),
  TOPIC_MIN_INSYNC: setting
    .integer(1, 1, 15)
    .describe('Copies that must have a message before its producer gets the acknowledgement; 2 in production'),
  PROVISION_WAIT_MS: setting
    .integer(120_000, 0, 3_600_000)
    .describe('Time to wait for Kafka, MongoDB and the registry'),
} as const

/** The settings for waiting for the deploy job, which only reads Kafka and MongoDB. */
export const waitSettings = {
  KAFKA_BROKERS,
  KAFKA_TOPIC_PREFIX,
  MONGO_URL,
  MONGO_DB,
  ...credentialsOf('KAFKA_'),
  ...credentialsOf('MONGO_'),
} as const

/** The settings of the command that resolves duplicates, which uses only MongoDB. */
const duplicatesSettings = {
  MONGO_URL,
  MONGO_DB,
  SECRET_KEYS: keyRingSetting().optional(),
  ...credentialsOf('MONGO_'),
} as const

/** The credential settings of one dependency. */
function credentialsOf<P extends 'KAFKA_' | 'MONGO_'>(prefix: P) {
  type Name = Extract<keyof typeof credentialSettings, `${P}${string}`>
  const entries = Object.entries(credentialSettings).filter(([name]) => name.startsWith(prefix))
  return Object.fromEntries(entries) as Pick<typeof credentialSettings, Name>
}

/** The settings of the network-policy check. */
export const networkPolicySettings = {
  NETWORK_POLICY_TARGETS: setting
    .list()
    .describe(
      'Targets that the notifier must not reach, as host:port, comma-separated; the check waits until DNS knows every name',
    ),
} as const

/** @throws AppError `config_invalid` */
export function readNetworkPolicyConfig(environment: Environment): {
  readonly NETWORK_POLICY_TARGETS: readonly ForbiddenTarget[]
} {
  const { NETWORK_POLICY_TARGETS } = readConfig(networkPolicySettings, environment)
  const targets = NETWORK_POLICY_TARGETS.flatMap(text => readTarget(text) ?? [])
  if (targets.length === 0 || targets.length < NETWORK_POLICY_TARGETS.length) {
    throw new AppError(
      'config_invalid',
      'The configuration has 1 error(s):\n  NETWORK_POLICY_TARGETS: Give at least one host:port, with IPv6 addresses in brackets',
    )
  }
  return { NETWORK_POLICY_TARGETS: targets }
}

function readTarget(text: string): ForbiddenTarget | undefined {
  const [, inBrackets, plain, digits] = /^(?:\[([^\]]+)\]|([^\s:[\]/]+)):(\d{1,5})$/.exec(text) ?? []
  const host = plain ?? inBrackets
  const port = Number(digits)
  if (host === undefined || port < 1 || port > 65_535) return undefined
  return inBrackets === undefined || isIPv6(inBrackets) ? { host, port } : undefined
}

/** @throws AppError `config_invalid` */
export function readDuplicatesConfig(environment: Environment) {
  return readServiceConfig(duplicatesSettings, environment)
}

/** @throws AppError `config_invalid` */
export function readWaitConfig(environment: Environment) {
  return readServiceConfig(waitSettings, environment)
}

/** @throws AppError `config_invalid` */
export function readProvisionConfig(environment: Environment) {
  const config = readServiceConfig(provisionSettings, environment)
  if (config.TOPIC_MIN_INSYNC > config.TOPIC_REPLICATION) {
    throw new AppError(
      'config_invalid',
      `TOPIC_MIN_INSYNC (${config.TOPIC_MIN_INSYNC}) is more than TOPIC_REPLICATION (${config.TOPIC_REPLICATION}): nothing could ever be sent`,
    )
  }
  return config
}
