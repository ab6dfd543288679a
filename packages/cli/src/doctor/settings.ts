import type { Environment, Secret } from '@backstop/kit/config'
import { type KeyRing, keyRingSetting } from '@backstop/kit/secret-box'
import { type CredentialConfig, commonSettings, credentialSettings, readServiceConfig } from '@backstop/kit/service'
import { findRunFile } from '../find-backstop.ts'
import type { Surroundings } from '../surroundings.ts'

/** The parts of the infrastructure whose address is known. */
export interface Infrastructure {
  readonly kafka: readonly string[] | undefined
  readonly topicPrefix: string
  readonly mongo: { readonly url: Secret; readonly dbName: string } | undefined
  readonly registryUrl: string | undefined
  readonly secretKeys: KeyRing | undefined
  readonly credentials: CredentialConfig
}

const { KAFKA_BROKERS, KAFKA_TOPIC_PREFIX, MONGO_URL, MONGO_DB, SCHEMA_REGISTRY_URL } = commonSettings
const settings = {
  KAFKA_BROKERS: KAFKA_BROKERS.optional(),
  KAFKA_TOPIC_PREFIX,
  MONGO_URL: MONGO_URL.optional(),
  MONGO_DB,
  SCHEMA_REGISTRY_URL: SCHEMA_REGISTRY_URL.optional(),
  SECRET_KEYS: keyRingSetting().optional(),
  ...credentialSettings,
} as const
const ADDRESSES = ['KAFKA_BROKERS', 'MONGO_URL', 'SCHEMA_REGISTRY_URL', 'SECRET_KEYS']

/**
 * Reads the settings that the services also have, from the environment, or else from a running `npm start`.
 * @throws AppError `config_invalid`
 */
export function readInfrastructure({
  environment,
  folder,
}: Pick<Surroundings, 'environment' | 'folder'>): Infrastructure {
  const isGiven = ADDRESSES.some(name => environment[name] || environment[`${name}_FILE`])
  const config = readServiceConfig(settings, isGiven ? environment : environmentOfRun(folder))
  return {
    kafka: config.KAFKA_BROKERS,
    topicPrefix: config.KAFKA_TOPIC_PREFIX,
    mongo: config.MONGO_URL && { url: config.MONGO_URL, dbName: config.MONGO_DB },
    registryUrl: config.SCHEMA_REGISTRY_URL,
    secretKeys: config.SECRET_KEYS,
    credentials: config,
  }
}

function environmentOfRun(folder: string): Environment {
  const run = findRunFile(folder)
  if (run === undefined) return {}
  return {
    KAFKA_BROKERS: run.kafka,
    KAFKA_TOPIC_PREFIX: run.topic_prefix,
    MONGO_URL: run.mongo,
    MONGO_DB: run.database,
    SCHEMA_REGISTRY_URL: run.registry,
  }
}
