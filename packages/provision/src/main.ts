/**
 * The deploy job: runs once per deploy, prints one line per change, and ends. Exit code 78: its settings are invalid, or a dependency refuses its credentials.
 */
import { AppError } from '@backstop/kit/errors'
import { createLogger } from '@backstop/kit/logger'
import { createHttpExchange } from '@backstop/kit/registry'
import { checkCredentials, kafkaCredentials, mongoTls, registryCredentials } from '@backstop/kit/service'
import { readProvisionConfig } from './config.ts'
import { provision } from './provision.ts'
import { refuseUnknownSettings } from './unknown-settings/refuse-unknown-settings.ts'

const EXIT_CONFIG = 78

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

try {
  refuseUnknownSettings(process.env)
  const config = readProvisionConfig(process.env)
  const logger = createLogger('provision', config.LOG_LEVEL, process.stderr)
  await checkCredentials(config)
  await provision({
    kafka: { brokers: config.KAFKA_BROKERS, clientId: 'backstop-provision', logger, ...kafkaCredentials(config) },
    topicPrefix: config.KAFKA_TOPIC_PREFIX,
    durability: { replication: config.TOPIC_REPLICATION, minInsync: config.TOPIC_MIN_INSYNC },
    mongo: { url: config.MONGO_URL, dbName: config.MONGO_DB, tls: mongoTls(config) },
    registryUrl: config.SCHEMA_REGISTRY_URL,
    registryExchange: createHttpExchange(registryCredentials(config)),
    waitMs: config.PROVISION_WAIT_MS,
    report: print,
  })
  print('provisioned')
} catch (error) {
  const expected = error instanceof AppError
  const cause = expected && error.cause instanceof Error ? ` (${error.cause.message})` : ''
  process.stderr.write(
    `provision failed. ${expected ? error.message + cause : error instanceof Error ? error.stack : error}\n`,
  )
  process.exitCode = expected && error.code === 'config_invalid' ? EXIT_CONFIG : 1
}
