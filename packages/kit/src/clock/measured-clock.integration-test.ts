import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startKafkaProxy } from '../../test/kafka-proxy.ts'
import { createCollectingLogger } from '../../test/log-lines.ts'
import { type TestStack, testStack } from '../../test/stack.ts'
import { until } from '../../test/until.ts'
import { createBrokerTime } from '../bus/broker-time.ts'
import { connectMongo, type Mongo } from '../mongo/mongo.ts'
import { createMongoTime } from '../mongo/mongo-time.ts'
import { createMetrics } from '../ops/metrics.ts'
import { createMeasuredClock } from './measured-clock.ts'

let stack: TestStack
let mongo: Mongo
beforeAll(async () => {
  stack = await testStack()
  await stack.createTopics(['clocks'])
  mongo = connectMongo({ url: stack.mongoUrl, dbName: stack.dbName, appName: 'test' })
})
afterAll(async () => {
  await mongo.stop()
  await stack.close()
})
const cleanUp: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const act of cleanUp.splice(0).reverse()) await act()
})

/** The true time: both sources run on this machine. */
const trueTime = () => performance.timeOrigin + performance.now()

/** A host whose clock is ahead, with the real sources. */
function host(aheadMs: number, kafka = stack.kafka()) {
  const metrics = createMetrics('test')
  const log = createCollectingLogger()
  const clock = createMeasuredClock({
    sources: { database: createMongoTime(mongo), broker: createBrokerTime(kafka, stack.topicPrefix) },
    own: { wall: () => trueTime() + aheadMs, monotonic: () => performance.now() },
    everyMs: 50,
    logger: log.logger,
    metrics,
  })
  cleanUp.push(() => clock.stop())
  clock.start()
  const value = async (name: string, source: string) =>
    Number(new RegExp(`^${name}\\{source="${source}".*\\} (\\S+)$`, 'm').exec(await metrics.text())?.[1])
  return { clock, log, value }
}

test.each([120_000, -600_000])(
  'the time of MongoDB and Kafka is measured by a host that is %i ms ahead',
  async aheadMs => {
    const { clock, value } = host(aheadMs)
    await clock.untilMeasured()
    for (const source of ['database', 'broker']) {
      const errorS = await until(
        `${source} is measured to 50 ms`,
        async () => (await value('clock_offset_error_seconds', source)) < 0.05,
      ).then(() => value('clock_offset_error_seconds', source))
      expect(Math.abs((await value('clock_offset_seconds', source)) - aheadMs / 1000)).toBeLessThan(errorS + 0.01)
    }
    expect(Math.abs(clock.now() - trueTime())).toBeLessThan(60)
    expect(clock.unready()).toMatch(/synchronise it by NTP/)
  },
)

test('a broker that is down leaves the process ready, and is read again when it is up', async () => {
  const proxy = await startKafkaProxy(stack.kafkaBrokers[0]!)
  cleanUp.push(() => proxy.stop())
  proxy.mode = 'refuse'
  const { clock, log, value } = host(0, stack.kafka({ translateAddress: proxy.translateAddress }))
  await clock.untilMeasured()
  await until('a reading of Kafka failed', () => log.count('clock.reading_failed') === 1)
  expect(clock.unready()).toBeUndefined()
  expect(await value('clock_offset_seconds', 'broker')).toBeNaN()
  proxy.mode = 'pass'
  await until('Kafka is read', async () => Math.abs(await value('clock_offset_seconds', 'broker')) < 1)
  expect(log.count('clock.reading_succeeded')).toBe(1)
})

test('a broker that accepts and does not answer fails the reading within 15 s, and the next one succeeds', async () => {
  const proxy = await startKafkaProxy(stack.kafkaBrokers[0]!)
  const time = createBrokerTime(stack.kafka({ translateAddress: proxy.translateAddress }), stack.topicPrefix)
  cleanUp.push(async () => {
    proxy.mode = 'pass'
    await time.stop?.()
    await proxy.stop()
  })
  await time.read()
  proxy.mode = 'black_hole'
  const startedAt = performance.now()
  await expect(time.read()).rejects.toMatchObject({ code: 'unavailable' })
  expect(performance.now() - startedAt).toBeLessThan(15_000)
  proxy.mode = 'pass'
  proxy.cutAll()
  expect(Math.abs((await time.read()) - trueTime())).toBeLessThan(1_000)
})

test('a topic that keeps the time of the producer is refused with the remedy', async () => {
  const prefix = `${stack.topicPrefix}wrong.`
  const name = `${prefix}clocks`
  await stack.admin.create([{ name, partitions: 1, replication: 1, config: {} }])
  cleanUp.push(() => stack.admin.delete([name]))
  const time = createBrokerTime(stack.kafka(), prefix)
  cleanUp.push(async () => time.stop?.())
  await expect(time.read()).rejects.toMatchObject({
    code: 'config_invalid',
    message: `The topic ${name} needs the timestamp type LogAppendTime: run the deploy job`,
  })
})
