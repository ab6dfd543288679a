import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { judgeLoad, type LoadJudgement, type LoadLimits, type LoadSample, SAMPLES_TO_SHED } from './load.ts'

/** Says whether this process has more work than it can do. */
export interface LoadWatch {
  judge(): LoadJudgement
  stop(): void
}

const SAMPLE_MS = 1_000
/** Fine enough that one pause in a second stays above the 99th percentile, and does not count. */
const RESOLUTION_MS = 5
const NS_PER_MS = 1e6

/**
 * Looks at the event loop once per second. It uses real time, because load is about the machine and not the product.
 * @param sampleMs how long one look lasts, in milliseconds
 */
export function watchLoad(limits: LoadLimits, sampleMs = SAMPLE_MS): LoadWatch {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  let last = performance.eventLoopUtilization()
  let samples: LoadSample[] = []
  let judgement: LoadJudgement = { kind: 'bearable' }
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, last)
    last = now
    // The histogram measures the whole interval between two of its ticks, not only how late the second one was.
    const lagMs = (percentile: number) => Math.max(0, delay.percentile(percentile) / NS_PER_MS - RESOLUTION_MS)
    const sample = { utilization, lagP50Ms: lagMs(50), lagP99Ms: lagMs(99) }
    delay.reset()
    samples = [...samples, sample].slice(-SAMPLES_TO_SHED)
    judgement = judgeLoad(samples, limits)
  }, sampleMs)
  timer.unref()
  return {
    judge: () => judgement,
    stop() {
      clearInterval(timer)
      delay.disable()
    },
  }
}
