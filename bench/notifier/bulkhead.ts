/** Measures how much a hanging channel delays the other channels. */
import { webhookChannel } from '@backstop/channels/test'
import { type NotifierAlone, openNotifierAlone } from '../../test/setup/notifier-alone.ts'
import { publishSteadily } from '../../test/setup/steady-load.ts'
import type { BenchSurroundings, Comparison } from '../frame/benchmark.ts'
import { percentile } from '../frame/statistics.ts'
import { benchAlert } from './load.ts'
import type { BenchReceiver } from './receiver.ts'

/**
 * Number of channels besides the first one. The first channel hangs in one run and works in the other; it is never
 * counted.
 */
const OTHERS = 49
const ALERTS_A_SECOND = 10
const WARM_UP_S = 10
const COUNTED_S = 20
const WITHIN_MS = 120_000
const READING = 'alert to first attempt, p99 of the other 49'

export async function openBulkhead(surroundings: BenchSurroundings, receiver: BenchReceiver) {
  const worlds = {
    'all answer': await openWorld('all-answer', '/uncounted/0'),
    'one hangs': await openWorld('one-hangs', '/hang/0'),
  }
  const comparison: Comparison = {
    name: 'Bulkhead: one of 50 channels hangs',
    readings: { [READING]: 'ms' },
    contenders: Object.entries(worlds).map(([name, world]) => ({ name, measure: () => measure(world) })),
    targets: [{ reading: READING, of: 'one hangs', against: 'all answer', is: 'at most', value: 1.2 }],
  }
  return { comparison, stop: () => Promise.all(Object.values(worlds).map(world => world.close())) }

  async function openWorld(name: string, first: string): Promise<NotifierAlone> {
    const world = await openNotifierAlone(name, surroundings)
    const paths = [first, ...Array.from({ length: OTHERS }, (_, index) => `/channel/${index + 1}`)]
    await world.putChannels(
      paths.map((path, index) => webhookChannel(`chn_${index}`, receiver.url + path, {}, { project_id: 'prj_0' })),
    )
    return world
  }

  async function measure(world: NotifierAlone) {
    const alerts = ALERTS_A_SECOND * (WARM_UP_S + COUNTED_S)
    const warmUp = ALERTS_A_SECOND * WARM_UP_S * OTHERS
    await receiver.expect({ count: alerts * OTHERS, warmUp, readsBodies: true })
    await world.start()
    const run = Date.now()
    await publishSteadily(world.publish, alerts, ALERTS_A_SECOND, index =>
      benchAlert(`bulkhead-${run}-${index}`, 'prj_0'),
    )
    await receiver.warmedUp(WITHIN_MS)
    const { latenciesMs } = await receiver.received(WITHIN_MS)
    await world.stop()
    return { [READING]: percentile(latenciesMs, 0.99) }
  }
}
