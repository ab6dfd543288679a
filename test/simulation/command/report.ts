import type { RunOptions } from '../run.ts'
import { type BatchResult, type Failure, weaknesses } from './simulate.ts'

/** Everything that is needed to repeat a failing run. */
export interface Replay extends RunOptions {
  /** The commit whose run it was. */
  readonly commit: string
  readonly hash: string
}

/** The summary of a batch. */
export function describeBatch(result: BatchResult): string {
  const { runs, failures, twice, differing, counts, cpuMs } = result
  const same = twice === 0 ? '' : `${twice - differing.length} of ${twice} that were run twice gave the same hash. `
  const accidents = Object.entries(counts)
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([name, times]) => `  ${String(times).padStart(7)} × ${name}`)
  return [
    ...accidents,
    ...weaknesses(result).map(text => `WRONG: ${text}`),
    `${runs - failures.length} of ${runs} runs are right. ${same}${Math.round(cpuMs)} ms of processor time a run.`,
  ].join('\n')
}

/** A failure for people: what is wrong, how to run it again, and what happened. */
export function describeFailure({ options, answer }: Failure, commit: string): string {
  const replay: Replay = { commit, ...options, hash: answer.hash }
  return [
    `seed ${options.seed} is wrong (commit ${commit}):`,
    ...answer.faults.map(fault => `  - ${fault}`),
    'what happened, in minutes:seconds of virtual time:',
    ...answer.story.map(line => `  ${line}`),
    `the same run again: npm run simulate -- --replay '${JSON.stringify(replay)}'`,
  ].join('\n')
}
