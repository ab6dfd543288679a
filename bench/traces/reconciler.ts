import { openReconcilerAlone, type ReconcilerAlone } from '../../test/setup/reconciler-alone.ts'
import { makeRefunds } from '../../test/setup/refunds.ts'
import type { BenchSurroundings, Comparison } from '../frame/benchmark.ts'
import { readingsOf, watchProgress } from '../reconciler/progress.ts'
import { CONTENDERS, READING, TARGETS, type TraceContender } from './contenders.ts'

const EVENTS = 30_000
/** The measured shares of the events, without the start, while code is compiled, and the end. */
const SHARES = [0.2, 0.95, 1]
/** A recheck delay longer than the measurement, in milliseconds. */
const RECHECK_DELAY_MS = 86_400_000

/** A reconciler that judges events from a full topic. Ingress has decided which of their traces are recorded. */
export function compareReconciler(
  surroundings: BenchSurroundings,
  settingsOf: (contender: TraceContender) => Record<string, string>,
): { comparison: Comparison; stop(): Promise<void> } {
  const worlds = new Map<string, Promise<ReconcilerAlone>>()
  let rounds = 0

  function openWorld(contender: TraceContender): Promise<ReconcilerAlone> {
    const name = `bench-traces-${CONTENDERS.indexOf(contender)}`
    const env = settingsOf(contender)
    const world =
      worlds.get(name) ?? openReconcilerAlone({ ...surroundings, name, env, recheckDelayMs: RECHECK_DELAY_MS })
    worlds.set(name, world)
    return world
  }

  async function measure(contender: TraceContender) {
    const world = await openWorld(contender)
    const before = await world.committed('reconciler')
    const refunds = makeRefunds(`t${++rounds}`, EVENTS)
    await world.publishEvents(refunds, index => traceHeaders(index, contender.ratio))
    await world.report(refunds)
    await world.start()
    const progress = { group: 'reconciler', before, count: EVENTS, shares: SHARES }
    const [from, to] = await watchProgress(world, progress, world.cpuMs)
    await world.stop()
    return { [READING]: readingsOf(from!, to!)['processor time for one'] }
  }

  return {
    comparison: {
      name: 'The reconciler judges an event',
      readings: { [READING]: 'µs' },
      contenders: CONTENDERS.map(contender => ({ name: contender.name, measure: () => measure(contender) })),
      targets: TARGETS,
    },
    stop: async () => {
      for (const world of await Promise.all(worlds.values())) await world.close()
    },
  }
}

/** The header that ingress sets. At 1 %, the trace of every hundredth event is recorded. */
function traceHeaders(index: number, ratio: number | undefined): Record<string, string> {
  if (ratio === undefined) return {}
  const isSampled = index % Math.round(1 / ratio) === 0
  const digits = (index + 1).toString(16)
  return { traceparent: `00-${digits.padStart(32, '0')}-${digits.padStart(16, '0')}-0${isSampled ? 1 : 0}` }
}
