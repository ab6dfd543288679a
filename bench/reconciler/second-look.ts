/** Measures the delay of second looks after their due time, with 10,000 pending second looks. */
import { watchSecondLooks } from '../../test/setup/second-looks.ts'
import type { Comparison } from '../frame/benchmark.ts'
import { percentile } from '../frame/statistics.ts'
import type { Worlds } from './worlds.ts'

const LOOKS = 10_000
/**
 * The production delay of one minute, in milliseconds. With it, as many looks become due per minute as are pending at
 * any time.
 */
const MINUTE_MS = 60_000

export function compareSecondLook(worlds: Worlds): Comparison {
  let round = 0
  return {
    name: `Second look, ${LOOKS.toLocaleString('en')} due evenly over a minute`,
    readings: { 'due to decided, soonest': 'ms', 'due to alert, p50': 'ms', 'due to alert, p99': 'ms' },
    contenders: [{ name: 'reconciler', measure }],
    targets: [
      { reading: 'due to alert, p99', of: 'reconciler', is: 'at most', value: 500 },
      { reading: 'due to decided, soonest', of: 'reconciler', is: 'at least', value: 0 },
    ],
  }

  async function measure() {
    const world = await worlds.get('second-look', MINUTE_MS)
    await world.start()
    const load = { count: LOOKS, perSecond: LOOKS / (MINUTE_MS / 1_000), withinMs: 3 * MINUTE_MS }
    const { lateMs, decidedMs } = await watchSecondLooks(world, `s${++round}x`, load)
    await world.stop()
    return {
      'due to decided, soonest': Math.min(...decidedMs),
      'due to alert, p50': percentile(lateMs, 0.5),
      'due to alert, p99': percentile(lateMs, 0.99),
    }
  }
}
