import { openReconcilerAlone, type ReconcilerAlone } from '../../test/setup/reconciler-alone.ts'
import { makeRefunds } from '../../test/setup/refunds.ts'
import type { BenchSurroundings, Comparison } from '../frame/benchmark.ts'
import { readingsOf, watchProgress } from '../reconciler/progress.ts'
import { CONTENDERS, READING, TARGETS, type TraceContender } from './contenders.ts'

const EVENTS = 20_000
const WARM_UP_EVENTS = 60_000
/** A recheck delay longer than the benchmark, in milliseconds. */
const RECHECK_DELAY_MS = 86_400_000

/**
 * One reconciler with traces on. Ingress decides which traces are recorded, so the contenders are events that differ in their header
 * only. Two processes differ more than the target allows, also with equal settings.
 */
export function compareReconciler(
  surroundings: BenchSurroundings,
  settings: Record<string, string>,
): { comparison: Comparison; stop(): Promise<void> } {
  let world: Promise<ReconcilerAlone> | undefined
  let turns = 0

  async function openWorld(): Promise<ReconcilerAlone> {
    const options = { ...surroundings, name: 'bench-traces', env: settings, recheckDelayMs: RECHECK_DELAY_MS }
    const opened = await openReconcilerAlone(options)
    await opened.start()
    await judgeEvents(opened, WARM_UP_EVENTS, 0.01)
    return opened
  }

  /** @param ratio the share of recorded traces; undefined for events without a trace */
  async function judgeEvents(reconciler: ReconcilerAlone, count: number, ratio: number | undefined) {
    const before = await reconciler.committed('reconciler')
    const refunds = makeRefunds(`t${++turns}`, count)
    await reconciler.report(refunds)
    const progress = { group: 'reconciler', before, count, shares: [0, 1] }
    const [[from, to]] = await Promise.all([
      watchProgress(reconciler, progress, reconciler.cpuMs),
      reconciler.publishEvents(refunds, index => traceHeaders(index, ratio)),
    ])
    return { [READING]: readingsOf(from!, to!)['processor time for one'] }
  }

  async function measure({ ratio }: TraceContender) {
    world ??= openWorld()
    return judgeEvents(await world, EVENTS, ratio)
  }

  return {
    comparison: {
      name: 'The reconciler judges an event',
      readings: { [READING]: 'µs' },
      contenders: CONTENDERS.map(contender => ({ name: contender.name, measure: () => measure(contender) })),
      targets: TARGETS,
    },
    stop: async () => (await world)?.close(),
  }
}

/**
 * The header that ingress sets. Recorded traces are drawn, because a recorded event in every hundredth place would always be one of
 * the unexplained, which cost more.
 */
function traceHeaders(index: number, ratio: number | undefined): Record<string, string> {
  if (ratio === undefined) return {}
  const isSampled = Math.random() < ratio
  const digits = (index + 1).toString(16)
  return { traceparent: `00-${digits.padStart(32, '0')}-${digits.padStart(16, '0')}-0${isSampled ? 1 : 0}` }
}
