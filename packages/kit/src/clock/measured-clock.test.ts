import { afterEach, describe, expect, test } from 'vitest'
import { createCollectingLogger } from '../../test/log-lines.ts'
import { until } from '../../test/until.ts'
import { unavailable } from '../errors.ts'
import { createMetrics } from '../ops/metrics.ts'
import type { ClockSource } from './judge-offsets.ts'
import { createMeasuredClock, type MeasuredClock } from './measured-clock.ts'

const TRUE_TIME = Date.UTC(2026, 0, 1)
const running: MeasuredClock[] = []
afterEach(() => Promise.all(running.splice(0).map(clock => clock.stop())))

/** The deviations of a host and two sources from the true time, in milliseconds; or a source that is down. */
interface Clocks {
  wall: number
  database: number | 'down' | 'wrong'
  broker: number | 'down' | 'wrong'
}

function world(clocks: Clocks, { everyMs = 1 } = {}) {
  let monotonic = 1_000
  const readings = { database: 0, broker: 0 }
  const trueTime = () => TRUE_TIME + monotonic
  const source = (name: ClockSource) => ({
    async read() {
      readings[name] += 1
      const ahead = clocks[name]
      if (ahead === 'down') throw unavailable(name, new Error('down'))
      if (ahead === 'wrong') throw new Error(`${name} answers with an error`)
      return Math.floor(trueTime() + ahead)
    },
  })
  const metrics = createMetrics('test')
  const log = createCollectingLogger()
  const own = { wall: () => trueTime() + clocks.wall, monotonic: () => monotonic }
  const sources = { database: source('database'), broker: source('broker') }
  const clock = createMeasuredClock({ sources, own, everyMs, logger: log.logger, metrics })
  running.push(clock)
  return {
    clock,
    clocks,
    log,
    metrics,
    readings,
    /** How far the clock is ahead of the true time, in milliseconds. */
    ahead: () => clock.now() - trueTime(),
    pass: (ms: number) => {
      monotonic += ms
    },
    async start() {
      clock.start()
      await clock.untilMeasured()
    },
    /** Resolves when each source was read once more, from start to end. */
    async untilReadAgain() {
      const before = { ...readings }
      await until(
        'further readings',
        () => readings.database > before.database + 1 && readings.broker > before.broker + 1,
      )
    },
  }
}

const NEAR_MS = 2

describe('the time base', () => {
  test.each([-600_000, 120_000])('is MongoDB time on a host whose clock is off by %i ms', async wall => {
    const { start, ahead } = world({ wall, database: 0, broker: 0 })
    expect(ahead()).toBe(wall)
    await start()
    expect(Math.abs(ahead())).toBeLessThan(NEAR_MS)
  })

  test('is MongoDB time where Kafka disagrees', async () => {
    const { start, ahead } = world({ wall: 0, database: 7_000, broker: 0 })
    await start()
    expect(Math.abs(ahead() - 7_000)).toBeLessThan(NEAR_MS)
  })

  test('is Kafka time while MongoDB was never read, and MongoDB time from then on', async () => {
    const { start, ahead, clocks, untilReadAgain } = world({ wall: 50_000, database: 'down', broker: 1_000 })
    await start()
    expect(Math.abs(ahead() - 1_000)).toBeLessThan(NEAR_MS)
    clocks.database = 3_000
    await untilReadAgain()
    expect(Math.abs(ahead() - 3_000)).toBeLessThan(NEAR_MS)
  })

  test('keeps the last reading while neither source answers', async () => {
    const { start, ahead, clocks, untilReadAgain, pass, clock } = world({ wall: 50_000, database: 0, broker: 0 })
    await start()
    Object.assign(clocks, { database: 'down', broker: 'down' })
    await untilReadAgain()
    pass(60_000)
    expect(Math.abs(ahead())).toBeLessThan(NEAR_MS)
    expect(clock.isMeasured()).toBe(true)
  })

  test('stays with MongoDB through an outage of hours, however wrong the clock of Kafka is', async () => {
    const { start, ahead, clocks, untilReadAgain, pass } = world({ wall: 50_000, database: 0, broker: 600_000 })
    await start()
    clocks.database = 'down'
    pass(3 * 3_600_000)
    await untilReadAgain()
    expect(ahead()).toBeCloseTo(0, -1)
  })

  test('does not follow a step of the wall clock of its host', async () => {
    const { start, ahead, clocks } = world({ wall: 0, database: 0, broker: 0 })
    await start()
    clocks.wall = -3_600_000
    expect(Math.abs(ahead())).toBeLessThan(NEAR_MS)
  })

  test('never goes back when MongoDB time does, and follows a step forward at once', async () => {
    const { start, ahead, clocks, untilReadAgain, pass, clock } = world({ wall: 0, database: 0, broker: 0 })
    await start()
    clocks.database = -60_000
    const before = clock.now()
    await untilReadAgain()
    expect(clock.now()).toBeGreaterThanOrEqual(before)
    pass(120_000)
    expect(Math.abs(ahead() + 60_000)).toBeLessThan(NEAR_MS)
    clocks.database = 5_000
    await untilReadAgain()
    expect(Math.abs(ahead() - 5_000)).toBeLessThan(NEAR_MS)
  })
})

describe('what it reports', () => {
  test('the offset to each source, with its error', async () => {
    const { start, metrics } = world({ wall: 120_000, database: 0, broker: 1_000 })
    await start()
    const text = await metrics.text()
    const value = (line: string) => Number(new RegExp(`^${line}(\\S+)$`, 'm').exec(text)?.[1])
    expect(value('clock_offset_seconds{source="database",service="test"} ')).toBeCloseTo(120, 2)
    expect(value('clock_offset_seconds{source="broker",service="test"} ')).toBeCloseTo(119, 2)
    expect(value('clock_offset_error_seconds{source="broker",service="test"} ')).toBeLessThan(0.002)
  })

  test('is not ready before the first reading, nor beyond 30 s, and says why', async () => {
    const { start, clock } = world({ wall: -31_000, database: 0, broker: 0 })
    expect(clock.unready()).toMatch(/not compared with MongoDB or Kafka yet/)
    await start()
    expect(clock.unready()).toMatch(/31\.0 s behind MongoDB's: synchronise it by NTP/)
  })

  test('is ready again as soon as the host has the right time', async () => {
    const { start, clock, clocks } = world({ wall: 31_000, database: 0, broker: 0 })
    await start()
    clocks.wall = 0
    expect(clock.unready()).toBeUndefined()
  })

  test('warns once about more than 2 s, and says once that it is over', async () => {
    const { start, clocks, log, untilReadAgain, clock } = world({ wall: 2_100, database: 0, broker: 0 })
    await start()
    await untilReadAgain()
    expect(clock.unready()).toBeUndefined()
    expect(log.count('clock.offset_exceeded')).toBe(1)
    clocks.wall = 0
    await untilReadAgain()
    await untilReadAgain()
    expect(log.count('clock.offset_recovered')).toBe(1)
  })

  test('a source that is down: once in the log, and counted at each reading', async () => {
    const { start, log, metrics, untilReadAgain } = world({ wall: 0, database: 0, broker: 'down' })
    await start()
    await untilReadAgain()
    expect(log.count('clock.reading_failed')).toBe(1)
    const count = /clock_reading_failures_total\{source="broker",service="test"\} (\d+)/.exec(await metrics.text())
    expect(Number(count?.[1])).toBeGreaterThan(1)
  })
})

test('rejects with the cause when no source could be read in time', async () => {
  const { clock } = world({ wall: 0, database: 'down', broker: 'down' })
  clock.start()
  await expect(clock.untilMeasured(50)).rejects.toMatchObject({
    code: 'unavailable',
    retryable: true,
    cause: { message: 'database is unavailable' },
  })
})

test('a source that never answers delays a measured process for 2 s at most', async () => {
  const logger = createCollectingLogger().logger
  const sources = { database: { read: async () => TRUE_TIME }, broker: { read: () => new Promise<number>(() => {}) } }
  const clock = createMeasuredClock({ sources, logger, metrics: createMetrics('test') })
  running.push(clock)
  const startedAt = performance.now()
  clock.start()
  await clock.untilMeasured()
  expect(performance.now() - startedAt).toBeLessThan(10_000)
})

describe('the time for which a source is unavailable', () => {
  test('counts from its first failed reading, and ends with an answer', async () => {
    const { start, clock, clocks, pass, untilReadAgain } = world({ wall: 0, database: 0, broker: 0 })
    await start()
    expect(clock.unavailableMs('broker')).toBe(0)
    clocks.broker = 'down'
    await untilReadAgain()
    pass(20_000)
    await untilReadAgain()
    expect(clock.unavailableMs('broker')).toBe(20_000)
    expect(clock.unavailableMs('database')).toBe(0)
    clocks.broker = 0
    await untilReadAgain()
    expect(clock.unavailableMs('broker')).toBe(0)
  })

  test('is zero for a source that answers with an error', async () => {
    const { start, clock, clocks, pass, untilReadAgain } = world({ wall: 0, database: 0, broker: 0 })
    await start()
    clocks.broker = 'wrong'
    await untilReadAgain()
    pass(20_000)
    expect(clock.unavailableMs('broker')).toBe(0)
  })
})
