import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { judgeLoad, type LoadJudgement, type LoadLimits, type LoadSample, OVERLOADED_SAMPLES } from './load.ts'

/** Judges whether this process is overloaded. */
export interface LoadWatch {
  judge(): LoadJudgement
  stop(): void
}

const SAMPLE_MS = 1_000
/**
 * Resolution of the histogram, in milliseconds: fine enough that a single pause within a second does not reach the 99th
 * percentile.
 */
const RESOLUTION_MS = 5
const NS_PER_MS = 1e6

/**
 * Samples the event loop once per second, measured by the machine's own clock.
 * @param sampleMs length of one sample, in milliseconds
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
    // The histogram measures the whole interval between two ticks, so the resolution is subtracted to get the delay.
    const lagMs = (percentile: number) => Math.max(0, delay.percentile(percentile) / NS_PER_MS - RESOLUTION_MS)
    const sample = { utilization, lagP50Ms: lagMs(50), lagP99Ms: lagMs(99) }
    delay.reset()
    samples = [...samples, sample].slice(-OVERLOADED_SAMPLES)
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
