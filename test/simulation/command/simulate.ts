import type { RunOptions } from '../run.ts'
import { type Parts, shrink } from './shrink.ts'
import { missing } from './sometimes.ts'
import type { RunAnswer } from './worker.ts'
import type { WorkerPool } from './worker-pool.ts'

/** Seeds that are run, and how. */
export interface Batch {
  readonly seeds: readonly number[]
  /** Virtual minutes with faults; drawn from each seed if undefined. */
  readonly minutes?: number | undefined
  /** Every n-th seed is run a second time, in another process, and must give the same hash. 0 for none. */
  readonly twiceEvery: number
  /** No seed begins after so many milliseconds of real time, but for the first `atLeast`. */
  readonly withinMs?: number
  readonly atLeast?: number
}

/** A run that was wrong. */
export interface Failure {
  readonly options: RunOptions
  readonly answer: RunAnswer
}

/** The result of a batch. */
export interface BatchResult {
  readonly runs: number
  readonly failures: readonly Failure[]
  /** Seeds that were run twice, and those of them whose two hashes differ. */
  readonly twice: number
  readonly differing: readonly number[]
  /** How often each accident happened, over all runs. */
  readonly counts: Readonly<Record<string, number>>
  /** Mean processor time of a run, in milliseconds. */
  readonly cpuMs: number
}

export interface BatchParts {
  readonly workers: WorkerPool
  /** Called after each seed. */
  onProgress?(done: number, failures: readonly Failure[]): void
}

/** Runs the seeds. A failure does not end the batch. */
export async function simulate(
  { seeds, minutes, twiceEvery, withinMs = Number.POSITIVE_INFINITY, atLeast = 0 }: Batch,
  { workers, onProgress }: BatchParts,
): Promise<BatchResult> {
  const failures: Failure[] = []
  const differing: number[] = []
  const counts: Record<string, number> = {}
  let twice = 0
  let done = 0
  let cpuMs = 0
  const runOne = async (seed: number, index: number) => {
    const options = { seed, ...(minutes === undefined ? {} : { minutes }) }
    const isTwice = twiceEvery > 0 && index % twiceEvery === 0
    const request = { options, keepTimeline: false }
    const [answer, again] = await Promise.all([workers.run(request), isTwice ? workers.run(request) : undefined])
    if (answer.faults.length > 0) failures.push({ options: { ...options, minutes: answer.minutes }, answer })
    if (again !== undefined) twice += 1
    if (again !== undefined && again.hash !== answer.hash) differing.push(seed)
    for (const [name, times] of Object.entries(answer.counts)) counts[name] = (counts[name] ?? 0) + times
    cpuMs += answer.cpuMs
    done += 1
    onProgress?.(done, failures)
  }
  const startedAt = performance.now()
  const waiting = seeds.entries()
  const runSome = async () => {
    for (const [index, seed] of waiting) {
      if (index >= atLeast && performance.now() - startedAt > withinMs) return
      await runOne(seed, index)
    }
  }
  // One more than there are processes, so that none waits for its next seed.
  await Promise.all(Array.from({ length: workers.size + 1 }, runSome))
  failures.sort((one, other) => one.options.seed - other.options.seed)
  return { runs: done, failures, twice, differing, counts, cpuMs: cpuMs / Math.max(1, done) }
}

/** What a batch shows that must not be, beside wrong runs. A small batch cannot show that an accident is missing. */
export function weaknesses({ runs, differing, counts }: BatchResult): string[] {
  const never = runs < 1_000 ? [] : missing(counts).map(name => `never in ${runs} runs: ${name}`)
  return [...differing.map(seed => `seed ${seed} gives another hash when it is run again`), ...never]
}

/** Looks for a smaller run that is wrong in the same way, and runs it once more for its timeline. */
export async function explain({ options, answer }: Failure, workers: WorkerPool): Promise<Failure> {
  const kinds = new Set(answer.faults.map(kindOf))
  const parts: Parts = { kinds: answer.kinds, items: answer.plan }
  const fails = async (candidate: RunOptions) => {
    const { faults } = await workers.run({ options: candidate, keepTimeline: false })
    return faults.some(fault => kinds.has(kindOf(fault)))
  }
  const smaller = await shrink({ options: { ...options, minutes: answer.minutes }, parts, fails })
  return { options: smaller, answer: await workers.run({ options: smaller, keepTimeline: true }) }
}

/** The name of the property that was broken. */
function kindOf(fault: string): string {
  return fault.split(':')[0] ?? fault
}
