import { AppError, commonSettings, type Environment, readConfig, setting } from '@backstop/kit'

const { LOG_LEVEL, KAFKA_BROKERS, KAFKA_TOPIC_PREFIX, MONGO_URL, MONGO_DB, SCHEMA_REGISTRY_URL } = commonSettings

/** The deploy job's settings, by their environment names. */
export const provisionSettings = {
  LOG_LEVEL,
  KAFKA_BROKERS,
  KAFKA_TOPIC_PREFIX,
  MONGO_URL,
  MONGO_DB,
  SCHEMA_REGISTRY_URL,
  TOPIC_REPLICATION: setting.integer(1, 1, 15).describe('Copies of every partition; 3 in production'),
  TOPIC_MIN_INSYNC: setting
    .integer(1, 1, 15)
    .describe('Copies that must have a message before its producer hears so; 2 in production'),
  PROVISION_WAIT_MS: setting
    .integer(120_000, 0, 3_600_000)
    .describe('How long to wait for Kafka, MongoDB and the registry to come up, in milliseconds'),
} as const

/** The settings of the wait for the deploy job: it reads Kafka and MongoDB, and makes nothing. */
export const waitSettings = { KAFKA_BROKERS, KAFKA_TOPIC_PREFIX, MONGO_URL, MONGO_DB } as const

/** @throws AppError `config_invalid` */
export function readWaitConfig(environment: Environment) {
  return readConfig(waitSettings, environment)
}

/** @throws AppError `config_invalid` */
export function readProvisionConfig(environment: Environment) {
  const config = readConfig(provisionSettings, environment)
  if (config.TOPIC_MIN_INSYNC > config.TOPIC_REPLICATION) {
    throw new AppError(
      'config_invalid',
      `TOPIC_MIN_INSYNC (${config.TOPIC_MIN_INSYNC}) is more than TOPIC_REPLICATION (${config.TOPIC_REPLICATION}): nothing could ever be sent`,
    )
  }
  return config
}
