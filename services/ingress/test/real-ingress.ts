import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type ConnectionDocument, INBOUND_TOPICS, type ProviderKind } from '@backstop/contracts'
import type { IncomingMessage } from '@backstop/kit/bus'
import type { Environment } from '@backstop/kit/config'
import { nodeEnvironment, type TestStack, until } from '@backstop/kit/test'
import { provisionTestStack } from '@backstop/provision/test'
import { type Collection, MongoClient } from 'mongodb'
import { connectionDocument, KEY_RING } from './connection-documents.ts'
import { SECRETS } from './memory-ingress.ts'

/** A stack after the deploy job, with a connection con_<provider> for each provider. */
export interface ProvisionedStack {
  readonly stack: TestStack
  readonly connections: Collection<ConnectionDocument>
  /** The environment for the settings of ingress, with free ports and only fatal log lines. */
  readonly environment: Environment
  /** Returns the messages on a provider's topic once `isEnough` returns true. */
  messagesOf(provider: ProviderKind, isEnough: (messages: IncomingMessage[]) => boolean): Promise<IncomingMessage[]>
  close(): Promise<void>
}

export async function provisionStack(): Promise<ProvisionedStack> {
  const stack = await provisionTestStack()
  const client = new MongoClient(stack.mongoUrl.reveal())
  const connections = client.db(stack.dbName).collection<ConnectionDocument>('connections')
  for (const provider of Object.keys(SECRETS) as ProviderKind[]) {
    await connections.insertOne(connectionDocument(`con_${provider}`, provider, [SECRETS[provider]]))
  }
  let readers = 0
  return {
    stack,
    connections,
    environment: {
      HOST: '127.0.0.1',
      PORT: '0',
      OPS_PORT: '0',
      LOG_LEVEL: 'fatal',
      KAFKA_BROKERS: stack.kafkaBrokers.join(','),
      KAFKA_TOPIC_PREFIX: stack.topicPrefix,
      MONGO_URL: stack.mongoUrl.reveal(),
      MONGO_DB: stack.dbName,
      SCHEMA_REGISTRY_URL: stack.registryUrl,
      SECRET_KEYS: KEY_RING,
    },
    async messagesOf(provider, isEnough) {
      readers += 1
      const messages: IncomingMessage[] = []
      const consumer = stack.bus().consumer({
        groupId: `reader-${readers}`,
        topics: [INBOUND_TOPICS[provider]],
        commit: 'accepted',
        onFatal: () => undefined,
        async onBatch(batch) {
          messages.push(...batch.messages)
          return { accepted: batch.messages.length }
        },
      })
      await consumer.start()
      try {
        await until(`enough messages of ${provider}`, () => isEnough(messages), { timeoutMs: 30_000 })
      } finally {
        await consumer.stop()
      }
      return messages
    },
    async close() {
      await client.close()
      await stack.close()
    },
  }
}

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))

/** Ingress as a separate process. */
export interface IngressProcess {
  readonly base: string
  kill(signal: NodeJS.Signals): void
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>
}

/** Starts services/ingress/src/main.ts and waits until it is ready. */
export async function spawnIngress(environment: Environment): Promise<IngressProcess> {
  const child: ChildProcess = spawn(process.execPath, [MAIN], {
    env: { ...nodeEnvironment(), ...environment, LOG_LEVEL: 'info' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<number | NodeJS.Signals | null>(resolve => {
    child.on('exit', (code, signal) => resolve(code ?? signal))
  })
  let errors = ''
  child.stderr?.on('data', chunk => {
    errors += chunk
  })
  const started = new Promise<{ port: number; ops_port: number }>((resolve, reject) => {
    const lines = createInterface({ input: child.stdout! })
    lines.on('line', line => {
      const entry = JSON.parse(line)
      if (entry.msg === 'service.started') resolve(entry)
    })
    void ended.then(how => reject(new Error(`Ingress ended before it started (${how}): ${errors}`)))
  })
  const { port, ops_port } = await started
  await until('readiness', async () => (await fetch(`http://127.0.0.1:${ops_port}/readyz`)).ok)
  return { base: `http://127.0.0.1:${port}`, kill: signal => void child.kill(signal), ended }
}
