/** `npm run simulate`: runs the whole product on virtual time with accidents from a seed, and judges it. Exit code 1 if a run was wrong. */
import { execFileSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { describeBatch, describeFailure, type Replay } from './command/report.ts'
import { explain, type Failure, simulate, weaknesses } from './command/simulate.ts'
import type { RunAnswer } from './command/worker.ts'
import { openWorkers } from './command/worker-pool.ts'
import type { RunOptions } from './run.ts'
import { huntAll } from './seeded-bugs/hunt.ts'
import { readSeededBugs } from './seeded-bugs/seeded-bugs.ts'

const USAGE = `npm run simulate -- --seed N [--runs K] [--minutes M]

Runs the whole product in one process on virtual time, with every accident drawn from the seed, and judges it (docs/simulation.md).
A failure is made smaller and printed.

  --seed 1 --runs 1000         runs 1 to 1000, in as many processes as there are cores
  --minutes M                  the length of a run in virtual time
  --twice-every 20             each twentieth seed twice, in place of all
  --seed 7 --timeline          everything that happened in one run
  --seeded-bugs --runs 1000    searches each seeded bug; --bug NAME searches one
  --real --runs 24             on the real processes and servers, --together 8 seeds at a time
  --replay '{"seed":7,…}'      a failing run again, as a failure prints it
`

/** Failures that are made smaller; each takes up to eighty runs. */
const EXPLAINED = 3

const OPTIONS = {
  help: { type: 'boolean', short: 'h', default: false },
  seed: { type: 'string', default: '1' },
  runs: { type: 'string', default: '1' },
  minutes: { type: 'string' },
  'twice-every': { type: 'string', default: '1' },
  timeline: { type: 'boolean', default: false },
  replay: { type: 'string' },
  bug: { type: 'string' },
  'seeded-bugs': { type: 'boolean', default: false },
  real: { type: 'boolean', default: false },
  together: { type: 'string', default: '8' },
} as const
const values = readOptions()
const print = (text: string) => void process.stdout.write(`${text}\n`)

function readOptions() {
  try {
    return parseArgs({ options: OPTIONS }).values
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${USAGE}`)
    process.exit(2)
  }
}

function wholeNumber(name: 'seed' | 'runs' | 'minutes' | 'twice-every' | 'together', least: number): number {
  const value = Number(values[name])
  if (Number.isInteger(value) && value >= least) return value
  process.stderr.write(`--${name} is a whole number from ${least} on\n`)
  process.exit(2)
}

function commitOf(): string {
  return execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim()
}

const seeds = () => {
  const first = wholeNumber('seed', 1)
  return Array.from({ length: wholeNumber('runs', 1) }, (_, index) => first + index)
}
const minutes = () => (values.minutes === undefined ? undefined : wholeNumber('minutes', 1))
const cores = availableParallelism()

/** @returns whether all is right */
async function runBatch(): Promise<boolean> {
  const batch = { seeds: seeds(), minutes: minutes(), twiceEvery: wholeNumber('twice-every', 0) }
  let printedAt = Date.now()
  const onProgress = (done: number, failures: readonly Failure[]) => {
    if (Date.now() - printedAt < 10_000) return
    printedAt = Date.now()
    print(`${done} of ${batch.seeds.length} runs, ${failures.length} wrong`)
  }
  const workers = await openWorkers(cores)
  try {
    const result = await simulate(batch, { workers, onProgress })
    for (const { options, answer } of result.failures.slice(EXPLAINED)) {
      print(`seed ${options.seed} is wrong: ${answer.faults.join('; ')}`)
    }
    for (const failure of result.failures.slice(0, EXPLAINED)) {
      print(describeFailure(await explain(failure, workers), commitOf()))
    }
    print(describeBatch(result))
    return result.failures.length === 0 && weaknesses(result).length === 0
  } finally {
    workers.stop()
  }
}

async function runOne(options: RunOptions): Promise<RunAnswer> {
  const workers = await openWorkers(1)
  return workers.run({ options, keepTimeline: true }).finally(() => workers.stop())
}

/** @returns whether the run is right */
async function replay(text: string): Promise<boolean> {
  const { commit, hash, ...options } = JSON.parse(text) as Replay
  const answer = await runOne(options)
  print(describeFailure({ options, answer }, commitOf()))
  print(
    answer.hash === hash ? 'This is the same run.' : `This is another run: that one was made with commit ${commit}.`,
  )
  return answer.faults.length === 0
}

async function showTimeline(): Promise<boolean> {
  const [seed = 1] = seeds()
  const answer = await runOne({ seed, ...(minutes() && { minutes: minutes() }) } as RunOptions)
  for (const line of answer.timeline) print(line)
  for (const fault of answer.faults) print(`  - ${fault}`)
  return answer.faults.length === 0
}

async function huntBugs(name: string | undefined): Promise<boolean> {
  const bugs = readSeededBugs().filter(bug => name === undefined || bug.name === name)
  if (bugs.length === 0) {
    process.stderr.write(`There is no seeded bug ${name}\n`)
    process.exit(2)
  }
  return (await huntAll(bugs, { seeds: seeds(), minutes: minutes(), workers: cores }, print)) === 0
}

async function runReal(): Promise<boolean> {
  const { simulateReal } = await import('./real/main.ts')
  const options = { seeds: seeds(), minutes: minutes(), together: wholeNumber('together', 1) }
  return simulateReal({ ...options, hasTimeline: values.timeline, commit: commitOf() }, print)
}

async function act(): Promise<boolean> {
  if (values.help) {
    print(USAGE.trimEnd())
    return true
  }
  if (values.real) return runReal()
  if (values.replay !== undefined) return replay(values.replay)
  if (values.timeline) return showTimeline()
  if (values['seeded-bugs'] || values.bug !== undefined) return huntBugs(values.bug)
  return runBatch()
}

// Not `process.exit`, which would cut off output that a pipe has not taken yet.
process.exitCode = (await act()) ? 0 : 1
