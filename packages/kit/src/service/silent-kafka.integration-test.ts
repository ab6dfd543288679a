import { createSecretKey } from 'node:crypto'
import type { ProcessDocument } from '@backstop/contracts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type KafkaProxy, startKafkaProxy } from '../../test/kafka-proxy.ts'
import { type TestStack, testStack } from '../../test/stack.ts'
import { until } from '../../test/until.ts'
import { createKafkaAvailability } from '../bus/kafka-availability.ts'
import { MeasuredClock } from '../clock/measured-clock.ts'
import { createLogger } from '../logger.ts'
import { connectMongo } from '../mongo/mongo.ts'
import { readMongoTime } from '../mongo/mongo-time.ts'
import { createMetrics } from '../ops/metrics.ts'
import { createMongoProcessEntry } from './process-report.ts'
import type { RunningService } from './run-service.ts'
import type { ServiceParts } from './service-parts.ts'
import { startApp } from './start-app.ts'

/** The promised limits, and time for a busy machine. */
const NOTICED_WITHIN_MS = 35_000 + 15_000
const BACK_WITHIN_MS = 15_000 + 15_000

let stack: TestStack
let proxy: KafkaProxy
let service: RunningService
let listed: () => Promise<ProcessDocument | null>
beforeAll(async () => {
  stack = await testStack()
  proxy = await startKafkaProxy(stack.kafkaBrokers[0]!)
  const logger = createLogger('test', 'silent')
  const metrics = createMetrics('test')
  const mongo = connectMongo({ url: stack.mongoUrl, dbName: stack.dbName, appName: 'test' })
  const kafka = createKafkaAvailability(stack.kafka({ translateAddress: proxy.translateAddress }))
  kafka.start()
  const clock = new MeasuredClock({ readTime: () => readMongoTime(mongo), logger, metrics })
  clock.start()
  await clock.untilMeasured()
  const processEntry = createMongoProcessEntry(mongo.db, 'notifier', '1.2.3')
  listed = () => mongo.db.collection<ProcessDocument>('processes').findOne({ service: 'notifier' })
  const parts = {
    logger,
    metrics,
    mongo,
    kafka,
    clock,
    processEntry,
    failed: new Promise(() => {}),
  } as unknown as ServiceParts
  const keys = new Map([['k1', createSecretKey(Buffer.alloc(32, 7))]])
  const config = { HOST: '127.0.0.1', OPS_PORT: 0, SECRET_KEYS: { primary: 'k1', keys, lost: new Set<string>() } }
  service = await startApp({ start: async () => {}, stop: async () => {} }, { parts, config })
})
afterAll(async () => {
  proxy.mode = 'pass'
  await service?.stop()
  await proxy?.stop()
  await stack?.close()
})

const readiness = async () => {
  const answer = await fetch(`http://127.0.0.1:${service.opsPort}/readyz`)
  return { status: answer.status, text: await answer.text() }
}

test('/readyz is 503 while the broker accepts connections and does not answer, and 200 when it answers again', async () => {
  await until('it is ready', async () => (await readiness()).status === 200, { timeoutMs: BACK_WITHIN_MS })
  proxy.mode = 'black_hole'
  await until('it is not ready', async () => (await readiness()).status === 503, { promisedMs: NOTICED_WITHIN_MS })
  expect((await readiness()).text).toMatch(/^Kafka has not answered for \d+ s/)
  await until('the list of processes says so', async () =>
    /^Kafka has not answered/.test((await listed())?.unready ?? ''),
  )
  proxy.mode = 'pass'
  proxy.cutAll()
  await until('it is ready again', async () => (await readiness()).status === 200, { timeoutMs: BACK_WITHIN_MS })
  await until('the list of processes says so', async () => (await listed())?.unready === null)
  const entry = await listed()
  expect(entry).toMatchObject({ version: '1.2.3', keys: [{ key_id: 'k1' }] })
  expect(Math.abs(Date.now() - Number(entry?.reported_at))).toBeLessThan(30_000)
  await service.stop()
})
