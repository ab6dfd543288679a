/**
 * Waits until the deploy job of this version has finished, and reports the missing parts. Runs before each service in
 * Kubernetes, where all pods start at once: a waiting pod does not count as failed.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { createTopicAdmin } from '@backstop/kit/bus'
import { AppError, isRetryable } from '@backstop/kit/errors'
import { createLogger } from '@backstop/kit/logger'
import { connectMongo } from '@backstop/kit/mongo'
import { checkCredentials, kafkaCredentials, mongoTls } from '@backstop/kit/service'
import { readWaitConfig } from './config.ts'
import { findMissing } from './missing.ts'
import { refuseUnknownSettings } from './unknown-settings/refuse-unknown-settings.ts'

const EXIT_CONFIG = 78
const LOOK_EVERY_MS = 2_000
/** Interval after which the same report is repeated, in milliseconds, so that it stays visible in the log. */
const REPORT_AGAIN_AFTER_MS = 60_000
/** Maximum number of names in a report. */
const NAMES_SHOWN = 5

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

// The first process of a container has no default signal handlers, so it must handle the signal that ends its pod.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(0))

try {
  await waitUntilProvisioned()
  print('provisioned: the service may start')
} catch (error) {
  const isConfig = error instanceof AppError && error.code === 'config_invalid'
  process.stderr.write(`${isConfig ? error.message : error instanceof Error ? error.stack : String(error)}\n`)
  process.exitCode = isConfig ? EXIT_CONFIG : 1
}

/** @throws AppError `config_invalid`, and any permanent error of Kafka or MongoDB */
async function waitUntilProvisioned(): Promise<void> {
  refuseUnknownSettings(process.env)
  const config = readWaitConfig(process.env)
  await checkCredentials(config)
  // kafkajs would log every attempt; this program reports each reason once instead.
  const logger = createLogger('wait-for-provision', 'silent')
  const name = 'backstop-wait-for-provision'
  const brokers = config.KAFKA_BROKERS
  const admin = createTopicAdmin({ brokers, clientId: name, logger, ...kafkaCredentials(config) })
  const mongo = connectMongo({ url: config.MONGO_URL, dbName: config.MONGO_DB, appName: name, tls: mongoTls(config) })
  const look = async (): Promise<string | undefined> => {
    try {
      await admin.connect()
      const missing = await findMissing(admin, mongo.db, config.KAFKA_TOPIC_PREFIX)
      return missing.length === 0 ? undefined : `waiting for the deploy job to make ${formatNames(missing)}`
    } catch (error) {
      if (!isRetryable(error)) throw error
      const { cause } = error
      return `waiting: ${error.message}${cause instanceof Error ? ` (${cause.message})` : ''}`
    }
  }
  let reported: { line: string; atMs: number } | undefined
  try {
    for (let line = await look(); line !== undefined; line = await look()) {
      if (line !== reported?.line || performance.now() - reported.atMs > REPORT_AGAIN_AFTER_MS) {
        print(line)
        reported = { line, atMs: performance.now() }
      }
      await pause(LOOK_EVERY_MS)
    }
  } finally {
    await Promise.allSettled([admin.stop(), mongo.stop()])
  }
}

function formatNames(names: readonly string[]): string {
  const more = names.length - NAMES_SHOWN
  return `${names.slice(0, NAMES_SHOWN).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
