/** Measures one, two and three processes of the reconciler on one full topic. */
import type { ServiceInstance } from '../../test/setup/service-alone.ts'
import type { Comparison } from '../frame/benchmark.ts'
import { CONNECTIONS, FEW, type Histories } from './histories.ts'
import { measureJudging, READINGS } from './judging.ts'

const COUNTS = [1, 2, 3]
/** Each process compiles its code with the first fifth. */
const EVENTS = 90_000

/** Without a target: the gain depends on the cores that MongoDB and Kafka leave. Every event must be judged once. */
export function compareProcesses(histories: Histories): Comparison {
  const added: Promise<ServiceInstance>[] = []
  return {
    name: 'Reconciler with 1 to 3 processes',
    readings: READINGS,
    contenders: COUNTS.map(count => ({
      name: `${count} ${count === 1 ? 'process' : 'processes'}`,
      measure: () => measure(count),
    })),
    targets: [],
  }

  async function measure(count: number) {
    const world = await histories.get(FEW)
    while (added.length < count - 1) added.push(world.createInstance(`reconciler-${added.length + 2}`))
    const others = await Promise.all(added.slice(0, count - 1))
    return measureJudging(world, histories.newRefunds(EVENTS, CONNECTIONS), [world, ...others])
  }
}
