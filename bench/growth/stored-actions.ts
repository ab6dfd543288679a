/** Measures the reconciler after few and after many stored refunds. */
import type { Comparison } from '../frame/benchmark.ts'
import { CONNECTIONS, FEW, type Histories } from './histories.ts'
import { READINGS } from './judging.ts'

/** The shares of the speed with few stored refunds, and the heap in MB. */
const LEAST_SHARE = 0.9
const MOST_HEAP = 150

/** @param many numbers of stored refunds, ascending. The last one is compared with few */
export function compareStoredActions(histories: Histories, many: readonly number[]): Comparison {
  const counts = [FEW, ...many]
  const names = counts.map(count => `${count.toLocaleString('en')} stored`)
  const [few, most] = [names[0]!, names.at(-1)!]
  return {
    name: `Reconciler with ${names.join(', ')}`,
    readings: READINGS,
    contenders: counts.map((count, index) => ({
      name: names[index]!,
      measure: () => histories.measure({ count, connections: CONNECTIONS }),
    })),
    targets: [
      { reading: 'events', of: most, against: few, is: 'at least', value: LEAST_SHARE },
      { reading: 'largest heap', of: most, is: 'at most', value: MOST_HEAP },
    ],
  }
}
