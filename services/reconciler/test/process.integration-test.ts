/** The real process shows its counters on /metrics. */
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Producer } from '@backstop/kit/bus'
import { nodeEnvironment, type TestStack, until } from '@backstop/kit/test'
import { provisionTestStack } from '@backstop/provision/test'
import { afterAll, beforeAll, test } from 'vitest'

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const PROJECT = 'prj_1'

let stack: TestStack
let producer: Producer
let child: ChildProcess
let metricsUrl: string

beforeAll(async () => {
  stack = await provisionTestStack()
  producer = stack.bus().producer({ sendTimeoutMs: 10_000 })
  await producer.start()
  child = spawn(process.execPath, [MAIN], {
    env: {
      ...nodeEnvironment(),
      OPS_PORT: '0',
      KAFKA_BROKERS: stack.kafkaBrokers.join(','),
      KAFKA_TOPIC_PREFIX: stack.topicPrefix,
      MONGO_URL: stack.mongoUrl.reveal(),
      MONGO_DB: stack.dbName,
      SCHEMA_REGISTRY_URL: stack.registryUrl,
      SECRET_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', chunk => (output += chunk))
  const started = () => /"ops_port":(\d+).*service\.started/.exec(output)?.[1]
  const port = await until('the process to start', started, { timeoutMs: 50_000, seen: () => output.slice(-2_000) })
  metricsUrl = `http://127.0.0.1:${port}/metrics`
})
afterAll(async () => {
  child?.kill('SIGKILL')
  await producer?.stop()
  await stack?.close()
})

/** The value of the metric's series with these labels; 0 if there is none. */
async function count(metric: string, ...labels: string[]): Promise<number> {
  const text = await (await fetch(metricsUrl)).text()
  const line = text.split('\n').find(one => one.startsWith(`${metric}{`) && labels.every(label => one.includes(label)))
  return Number(line?.split(' ').at(-1) ?? 0)
}

test.each([
  { topic: 'inbound.processor', what: 'a notification' },
  { topic: 'commands', what: 'a command' },
  { topic: 'rereads', what: 'a question to a provider' },
] as const)('dead_letters_total counts $what that cannot be decoded', async ({ topic }) => {
  await producer.send([{ topic, key: `${PROJECT}/x`, value: Buffer.from('nonsense'), headers: {} }])
  await until('the dead letter to be counted', async () => {
    return (await count('dead_letters_total', `topic="${topic}"`, 'code="message_invalid"')) === 1
  })
})
