/**
 * Measures how much attackers delay an authentic sender: ingress answers 50 events per second, without attacks and with
 * three attacks.
 */
import type { Benchmark } from '../frame/benchmark.ts'
import { EVENTS_A_SECOND, type MeasuredSender, openFloodWorld } from './world.ts'

const SECONDS = 20
const P50 = 'answer to an authentic event, p50'
const P99 = 'answer to an authentic event, p99'

export const floodsBenchmark: Benchmark = {
  name: 'floods',
  about: 'how soon authentic events are answered beside garbage, slow clients and exfiltration attempts',
  async open({ stack, folder, log }) {
    const world = await openFloodWorld('floods', stack, folder)
    const step = log.step('warm-up')
    await world.calm(SECONDS / 2)
    step.done('done')
    const readingsOf = ({ p50Ms, p99Ms }: MeasuredSender) => ({ [P50]: p50Ms, [P99]: p99Ms })
    return {
      comparisons: [
        {
          name: `Floods beside ${EVENTS_A_SECOND} authentic events a second`,
          readings: { [P50]: 'ms', [P99]: 'ms' },
          contenders: [
            { name: 'under attack', measure: measureAttacked },
            { name: 'calm', measure: async () => readingsOf(await world.calm(SECONDS)) },
          ],
          targets: [{ reading: P99, of: 'under attack', is: 'at most', value: 250 }],
        },
      ],
      stop: () => world.stop(),
    }

    async function measureAttacked() {
      const attacked = await world.attacked(SECONDS)
      const { counts, exfiltrations, failures } = attacked
      log.step('attack').done(JSON.stringify({ ...counts, exfiltrations, failed_tries: failures }))
      const { eventIds, marked, validIds } = await world.topics()
      const unauthentic = [...eventIds].filter(id => !validIds.has(id)).length + marked
      const missing = [...validIds].filter(id => !eventIds.has(id)).length
      if (unauthentic + missing + attacked.breaches.length > 0) {
        throw new Error(`A promise is broken: ${JSON.stringify({ unauthentic, missing, breaches: attacked.breaches })}`)
      }
      return readingsOf(attacked)
    }
  },
}
