import { afterAll, beforeAll, expect, test } from 'vitest'
import { createCollectingLogger } from '../../test/log-lines.ts'
import { type TestStack, testStack } from '../../test/stack.ts'
import { until } from '../../test/until.ts'
import { connectMongo, type Mongo } from '../mongo/mongo.ts'
import { readMongoTime } from '../mongo/mongo-time.ts'
import { createMetrics } from '../ops/metrics.ts'
import { MeasuredClock } from './measured-clock.ts'

let stack: TestStack
let mongo: Mongo
beforeAll(async () => {
  stack = await testStack()
  mongo = connectMongo({ url: stack.mongoUrl, dbName: stack.dbName, appName: 'test' })
})
afterAll(async () => {
  await mongo.stop()
  await stack.close()
})

/** The true time: MongoDB runs on this machine. */
const trueTime = () => performance.timeOrigin + performance.now()

test.each([120_000, -600_000])('the time of MongoDB is measured by a host that is %i ms ahead', async aheadMs => {
  const metrics = createMetrics('test')
  const clock = new MeasuredClock({
    readTime: () => readMongoTime(mongo),
    own: { wall: () => trueTime() + aheadMs, monotonic: () => performance.now() },
    everyMs: 50,
    logger: createCollectingLogger().logger,
    metrics,
  })
  const value = async (name: string) => Number(new RegExp(`^${name}{.*} (\\S+)$`, 'm').exec(await metrics.text())?.[1])
  try {
    clock.start()
    await clock.untilMeasured()
    await until('it is measured to 50 ms', async () => (await value('clock_offset_error_seconds')) < 0.05)
    const errorS = await value('clock_offset_error_seconds')
    expect(Math.abs((await value('clock_offset_seconds')) - aheadMs / 1000)).toBeLessThan(errorS + 0.01)
    expect(Math.abs(clock.now() - trueTime())).toBeLessThan(60)
    expect(clock.unready()).toMatch(/synchronise it by NTP/)
  } finally {
    clock.stop()
  }
})
