/** A process that carries out runs, one after another; with a seeded bug if its argument names one. Messages: `RunRequest` in, `RunAnswer` out. */

import type { RunOptions, RunResult } from '../run.ts'
import { plantBug, readSeededBugs } from '../seeded-bugs/seeded-bugs.ts'
import { replaceModules } from '../world/globals.ts'

export interface RunRequest {
  readonly options: RunOptions
  readonly keepTimeline: boolean
}

/** A run's result in a form that a message can carry. */
export type RunAnswer = Omit<RunResult, 'counts'> & {
  readonly counts: Readonly<Record<string, number>>
  /** Processor time of the run, in milliseconds. */
  readonly cpuMs: number
}

// The modules of the product are imported afterwards, so that they get the replaced ones.
replaceModules()
const [, , bugName] = process.argv
const bug = readSeededBugs().find(({ name }) => name === bugName)
if (bug !== undefined) plantBug(bug)
const { prepare, run } = await import('../run.ts')
prepare()
process.on('message', (request: RunRequest) => {
  carryOut(request).then(
    answer => process.send?.(answer),
    // The simulator itself failed, for example its judge. The pool shows the error.
    error => {
      process.stderr.write(`seed ${request.options.seed}: ${error.stack}\n`, () => process.exit(1))
    },
  )
})
process.send?.('ready')

async function carryOut({ options, keepTimeline }: RunRequest): Promise<RunAnswer> {
  const before = process.cpuUsage()
  const { counts, ...result } = await run(options, keepTimeline)
  const { user, system } = process.cpuUsage(before)
  return { ...result, counts: Object.fromEntries(counts), cpuMs: (user + system) / 1_000 }
}
