/** Measures the time from an alert to the first attempt of its delivery, at a steady rate. */

import type { NotifierAlone } from '../../test/setup/notifier-alone.ts'
import { publishSteadily } from '../../test/setup/steady-load.ts'
import type { Comparison } from '../frame/benchmark.ts'
import { percentile } from '../frame/statistics.ts'
import { benchAlert } from './load.ts'
import type { BenchReceiver } from './receiver.ts'

const ALERTS_A_SECOND = 500
const WARM_UP_S = 10
const COUNTED_S = 20
const WITHIN_MS = 120_000

/** @param world a notifier with one channel for each project `prj_<n>` */
export function compareLatency(world: NotifierAlone, receiver: BenchReceiver, projects: number): Comparison {
  let round = 0
  return {
    name: `Latency at ${ALERTS_A_SECOND} alerts a second`,
    readings: { 'alert to first attempt, p50': 'ms', 'alert to first attempt, p99': 'ms' },
    contenders: [{ name: 'notifier', measure }],
    targets: [{ reading: 'alert to first attempt, p99', of: 'notifier', is: 'at most', value: 100 }],
  }

  async function measure() {
    round++
    const count = ALERTS_A_SECOND * (WARM_UP_S + COUNTED_S)
    await receiver.expect({ count, warmUp: ALERTS_A_SECOND * WARM_UP_S, readsBodies: true })
    await world.start()
    await publishSteadily(world.publish, count, ALERTS_A_SECOND, index =>
      benchAlert(`latency-${round}-${index}`, `prj_${index % projects}`),
    )
    await receiver.warmedUp(WITHIN_MS)
    const { latenciesMs } = await receiver.received(WITHIN_MS)
    await world.expectDelivered(count)
    await world.stop()
    return {
      'alert to first attempt, p50': percentile(latenciesMs, 0.5),
      'alert to first attempt, p99': percentile(latenciesMs, 0.99),
    }
  }
}
