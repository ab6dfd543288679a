/** Runs the deploy job. */
import { appendFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ProgressSink, type StackUrls, silentProgress } from '@backstop/stack'
import { runChild } from './run-child.ts'
import { databaseName } from './service-environment.ts'
import { StartFault } from './start-fault.ts'

const DEPLOY_JOB = fileURLToPath(new URL('../../packages/provision/src/main.ts', import.meta.url))
/** Milliseconds to wait for Kafka, MongoDB and the registry after the stack has reported them as ready. */
const WAIT_MS = 180_000

export interface ProvisionPlace {
  readonly dataDir: string
  readonly env: NodeJS.ProcessEnv
  readonly topicPrefix?: string
  readonly log?: ProgressSink
}

/** Creates the topics, schemas and indexes. @throws StartFault with the reason, and the log that has more */
export async function provisionInChild(place: ProvisionPlace, stack: StackUrls): Promise<void> {
  const { dataDir, env, topicPrefix = '', log = silentProgress } = place
  const step = log.step('topics, schemas, indexes')
  const logs = join(dataDir, 'logs')
  mkdirSync(logs, { recursive: true })
  const logPath = join(logs, 'provision.log')
  step.update('being made')
  const { code, output } = await runChild(DEPLOY_JOB, {
    env: {
      ...env,
      LOG_LEVEL: 'info',
      KAFKA_BROKERS: stack.kafka,
      KAFKA_TOPIC_PREFIX: topicPrefix,
      MONGO_URL: stack.mongo,
      MONGO_DB: databaseName(topicPrefix),
      SCHEMA_REGISTRY_URL: stack.registry,
      // One copy, because the embedded Kafka has one broker.
      TOPIC_REPLICATION: '1',
      TOPIC_MIN_INSYNC: '1',
      PROVISION_WAIT_MS: String(WAIT_MS),
    },
    onOutput(text) {
      appendFileSync(logPath, text)
      const waiting = /^waiting for .*$/m.exec(text)
      if (waiting !== null) step.update(waiting[0])
    },
  })
  if (code === 0) return step.done('in place')
  step.fail('could not be made', '')
  throw provisionFault(output, env, logPath)
}

/**
 * The error of a failed provisioning. The remedy names the address variables that are set, and not their values, because a URL
 * may contain a password.
 */
function provisionFault(output: string, env: NodeJS.ProcessEnv, logPath: string): StartFault {
  const given = ['KAFKA_BROKERS', 'MONGO_URL', 'SCHEMA_REGISTRY_URL'].filter(name => env[name])
  const check = given.length === 0 ? '' : `Check ${given.join(', ')}. `
  const reason = output.split('provision failed. ').at(-1)?.trim() || 'The deploy job ended without a reason'
  return new StartFault(reason, `${check}More is in ${logPath}`)
}
