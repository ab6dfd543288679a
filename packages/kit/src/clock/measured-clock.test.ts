import { afterEach, describe, expect, test } from 'vitest'
import { createCollectingLogger } from '../../test/log-lines.ts'
import { until } from '../../test/until.ts'
import { unavailable } from '../errors.ts'
import { createMetrics } from '../ops/metrics.ts'
import { MeasuredClock } from './measured-clock.ts'

const TRUE_TIME = Date.UTC(2026, 0, 1)
const running: MeasuredClock[] = []
afterEach(() => {
  for (const clock of running.splice(0)) clock.stop()
})

/** The deviations of a host and of MongoDB from the true time, in milliseconds. */
interface Clocks {
  wall: number
  database: number | 'down'
}

/** @param connectMs how long the first reading takes before MongoDB reads its clock, in milliseconds */
function world(clocks: Clocks, { everyMs = 1, connectMs = 0 } = {}) {
  let monotonic = 1_000
  let readings = 0
  const trueTime = () => TRUE_TIME + monotonic
  async function readTime(): Promise<number> {
    if (readings === 0) monotonic += connectMs
    readings += 1
    if (clocks.database === 'down') throw unavailable('MongoDB', new Error('down'))
    return Math.floor(trueTime() + clocks.database)
  }
  const metrics = createMetrics('test')
  const log = createCollectingLogger()
  const own = { wall: () => trueTime() + clocks.wall, monotonic: () => monotonic }
  const clock = new MeasuredClock({ readTime, own, everyMs, logger: log.logger, metrics })
  running.push(clock)
  return {
    clock,
    clocks,
    log,
    metrics,
    /** How far the clock is ahead of the true time, in milliseconds. */
    ahead: () => clock.now() - trueTime(),
    pass: (ms: number) => {
      monotonic += ms
    },
    async start() {
      clock.start()
      await clock.untilMeasured()
    },
    /** Resolves when MongoDB's clock was read once more, from start to end. */
    async untilReadAgain() {
      const before = readings
      await until('further readings', () => readings > before + 1)
    },
  }
}

const NEAR_MS = 2

describe('the time base', () => {
  test.each([-600_000, 120_000])('is MongoDB time on a host whose clock is off by %i ms', async wall => {
    const { start, ahead } = world({ wall, database: 0 })
    expect(ahead()).toBe(wall)
    await start()
    expect(Math.abs(ahead())).toBeLessThan(NEAR_MS)
  })

  test('is not measured by a first reading that includes connecting alone', async () => {
    const { start, ahead } = world({ wall: 0, database: 0 }, { connectMs: 2_000 })
    await start()
    expect(Math.abs(ahead())).toBeLessThan(NEAR_MS)
  })

  test('keeps the last reading while MongoDB does not answer, also for hours', async () => {
    const { start, ahead, clocks, untilReadAgain, pass, clock } = world({ wall: 50_000, database: 0 })
    await start()
    clocks.database = 'down'
    await untilReadAgain()
    pass(3 * 3_600_000)
    expect(Math.abs(ahead())).toBeLessThan(NEAR_MS)
    expect(clock.isMeasured()).toBe(true)
  })

  test('does not follow a step of the wall clock of its host', async () => {
    const { start, ahead, clocks } = world({ wall: 0, database: 0 })
    await start()
    clocks.wall = -3_600_000
    expect(Math.abs(ahead())).toBeLessThan(NEAR_MS)
  })

  test('never goes back when MongoDB time does, and follows a step forward at once', async () => {
    const { start, ahead, clocks, untilReadAgain, pass, clock } = world({ wall: 0, database: 0 })
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
  test('the offset to MongoDB, with its error, and nothing before it is read', async () => {
    const { start, metrics } = world({ wall: 120_000, database: 0 })
    expect(await metrics.text()).not.toMatch(/^clock_offset/m)
    await start()
    const text = await metrics.text()
    const value = (name: string) => Number(new RegExp(`^${name}{service="test"} (\\S+)$`, 'm').exec(text)?.[1])
    expect(value('clock_offset_seconds')).toBeCloseTo(120, 2)
    expect(value('clock_offset_error_seconds')).toBeLessThan(0.002)
  })

  test('is not ready before the first reading, nor beyond 30 s, and says why', async () => {
    const { start, clock } = world({ wall: -31_000, database: 0 })
    expect(clock.unready()).toMatch(/not compared with MongoDB's yet/)
    await start()
    expect(clock.unready()).toMatch(/31\.0 s behind MongoDB's: synchronise it by NTP/)
  })

  test('is ready again as soon as the host has the right time', async () => {
    const { start, clock, clocks } = world({ wall: 31_000, database: 0 })
    await start()
    clocks.wall = 0
    expect(clock.unready()).toBeUndefined()
  })

  test('warns once about more than 2 s, and says once that it is over', async () => {
    const { start, clocks, log, untilReadAgain, clock } = world({ wall: 2_100, database: 0 })
    await start()
    await untilReadAgain()
    expect(clock.unready()).toBeUndefined()
    expect(log.count('clock.offset_exceeded')).toBe(1)
    clocks.wall = 0
    await untilReadAgain()
    await untilReadAgain()
    expect(log.count('clock.offset_recovered')).toBe(1)
  })

  test('a MongoDB that is down: once in the log, and counted at each reading', async () => {
    const { start, clocks, log, metrics, untilReadAgain } = world({ wall: 0, database: 0 })
    await start()
    clocks.database = 'down'
    await untilReadAgain()
    await untilReadAgain()
    expect(log.count('clock.reading_failed')).toBe(1)
    const count = /^clock_reading_failures_total{service="test"} (\d+)$/m.exec(await metrics.text())
    expect(Number(count?.[1])).toBeGreaterThan(1)
    clocks.database = 0
    await untilReadAgain()
    expect(log.count('clock.reading_succeeded')).toBe(1)
  })
})
