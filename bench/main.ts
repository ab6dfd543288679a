/**
 * `npm run bench -- <name>`: measures one part of the product against its references, on real parts. Without a name: every part, one
 * after the other, and a summary.
 * Options: --rounds <n> (5), --only <words of a comparison's name>, --rate <events a second of end-to-end and others>, --out <file>
 * (.backstop/bench/<name>.json), --stored <numbers of stored refunds of growth> (1000000), --keep (keeps the
 * logs, and the stored refunds of growth in a MongoDB given by MONGO_URL). --only, --rate, --stored and --out need a name.
 * Starts a stack for each part, whose MongoDB has 2 GiB of cache, or uses KAFKA_BROKERS, MONGO_URL and SCHEMA_REGISTRY_URL.
 * Exit code 1: a target is missed, or a measurement failed.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type ProgressSink, progressOn, startStack } from '@backstop/stack'
import { adminBenchmark } from './admin/benchmark.ts'
import { burstsBenchmark } from './bursts/benchmark.ts'
import { catchUpBenchmark } from './catch-up/benchmark.ts'
import { consoleBenchmark } from './console/benchmark.ts'
import { endToEndBenchmark } from './end-to-end/benchmark.ts'
import { floodsBenchmark } from './floods/benchmark.ts'
import type { Benchmark, Comparison } from './frame/benchmark.ts'
import { type Compared, runComparison } from './frame/compare.ts'
import { describeMachine } from './frame/machine.ts'
import { setMongoCache } from './frame/mongo-cache.ts'
import { type BenchmarkResult, isAllMet, toSummary } from './frame/summary.ts'
import { toTable } from './frame/table.ts'
import { growthBenchmark } from './growth/benchmark.ts'
import { ingressBenchmark } from './ingress/benchmark.ts'
import { notifierBenchmark } from './notifier/benchmark.ts'
import { overloadBenchmark } from './overload/benchmark.ts'
import { reconcilerBenchmark } from './reconciler/benchmark.ts'
import { reportsBenchmark } from './reports/benchmark.ts'
import { storageBenchmark } from './storage/benchmark.ts'
import { tracesBenchmark } from './traces/benchmark.ts'

const ROOT = resolve(import.meta.dirname, '..')
const BENCHMARKS: readonly Benchmark[] = [
  ingressBenchmark,
  overloadBenchmark,
  notifierBenchmark,
  reconcilerBenchmark,
  growthBenchmark,
  endToEndBenchmark,
  catchUpBenchmark,
  burstsBenchmark,
  floodsBenchmark,
  adminBenchmark,
  reportsBenchmark,
  consoleBenchmark,
  tracesBenchmark,
  storageBenchmark,
]

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    only: { type: 'string', default: '' },
    rate: { type: 'string' },
    stored: { type: 'string' },
    out: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
})
const [wanted] = positionals
const benchmarks = BENCHMARKS.filter(({ name }) => wanted === undefined || name === wanted)
const rounds = Number(values.rounds)
const rate = values.rate === undefined ? undefined : Number(values.rate)
const stored = values.stored?.split(',').map(Number)
const needsName = [values.out, rate, stored].some(value => value !== undefined) || values.only !== ''
const isCount = (number: number) => Number.isInteger(number) && number >= 1
if (
  benchmarks.length === 0 ||
  positionals.length > 1 ||
  ![rounds, rate ?? 1, ...(stored ?? [])].every(isCount) ||
  (needsName && wanted === undefined)
) {
  const list = BENCHMARKS.map(({ name, about }) => `  ${name}   ${about}\n`).join('')
  process.stderr.write(
    `Use: npm run bench -- [<name> [--only <comparison>] [--rate <events a second>] [--stored <refunds>] [--out <file>]] [--rounds 5] [--keep]\n${list}`,
  )
  process.exit(2)
}

const folder = mkdtempSync(join(tmpdir(), 'backstop-bench-'))
const log = progressOn(process.stderr)
const stops: (() => Promise<unknown>)[] = []
const results: BenchmarkResult[] = []
let keepsLogs = values.keep
let ending: Promise<void> | undefined
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    ending = end(130)
  })
}
for (const [index, benchmark] of benchmarks.entries()) {
  if (benchmarks.length > 1) process.stderr.write(`\n${benchmark.name} (${index + 1} of ${benchmarks.length})\n`)
  results.push({ name: benchmark.name, comparisons: await measureAndWrite(benchmark) })
  // After a signal the interrupted benchmark fails, and the next must not start.
  await ending
}
if (benchmarks.length > 1) process.stdout.write(`\n${toSummary(results)}\n`)
await end(results.every(isAllMet) ? 0 : 1)

/** Measures one benchmark and writes its results. @returns undefined if it failed, so that the others are still measured */
async function measureAndWrite(benchmark: Benchmark): Promise<Compared[] | undefined> {
  const machine = describeMachine(new Date())
  try {
    const comparisons = await measure(benchmark)
    const out = values.out ?? join(ROOT, '.backstop/bench', `${benchmark.name}.json`)
    mkdirSync(dirname(out), { recursive: true })
    const content = { benchmark: benchmark.name, rounds, machine, comparisons }
    writeFileSync(out, `${JSON.stringify(content, undefined, 2)}\n`)
    process.stdout.write(
      `\n${comparisons.map(toTable).join('\n\n')}\n\n${JSON.stringify(machine)}\nAll numbers: ${out}\n`,
    )
    return comparisons
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
    keepsLogs = true
    return undefined
  } finally {
    await stopAll()
  }
}

async function measure({ name, open }: Benchmark): Promise<Compared[]> {
  const own = join(folder, name)
  mkdirSync(own)
  const stack = await startStack({ dataDir: join(own, 'stack'), log, env: process.env, endWithProcess: true })
  stops.push(() => stack.stop())
  if (!process.env.MONGO_URL) await setMongoCache(stack.urls.mongo)
  const step = log.step('set-up')
  step.update('topics, channels, receiver')
  const isKept = values.keep && Boolean(process.env.MONGO_URL)
  const options = { ...(rate === undefined ? {} : { rate }), ...(stored === undefined ? {} : { stored }) }
  const opened = await open({ stack: stack.urls, parts: stack.parts, folder: own, log, isKept, ...options })
  stops.push(() => opened.stop())
  step.done('ready')
  const only = values.only.toLowerCase()
  const comparisons = opened.comparisons.filter(
    ({ name, onRequest }) => name.toLowerCase().includes(only) && (only !== '' || onRequest !== true),
  )
  const done: Compared[] = []
  for (const comparison of comparisons) done.push(await compare(comparison, log))
  return done
}

async function compare(comparison: Comparison, log: ProgressSink): Promise<Compared> {
  const step = log.step(comparison.name)
  const compared = await runComparison(comparison, rounds, (round, contender) =>
    step.update(`round ${round} of ${rounds}, ${contender}`),
  )
  const [reading] = compared.readings
  const medians = reading?.contenders.map(({ name, median }) => `${name} ${Math.round(median)} ${reading.unit}`)
  step.done(medians?.join(', ') ?? '')
  return compared
}

/** Stops the parts in reverse order. A part that cannot be stopped ends with this process. */
async function stopAll(): Promise<void> {
  for (const stop of stops.splice(0).reverse()) await stop().catch(error => process.stderr.write(`${error}\n`))
}

async function end(code: number): Promise<void> {
  await stopAll()
  if (keepsLogs) process.stderr.write(`Logs are in ${folder}\n`)
  else rmSync(folder, { recursive: true, force: true })
  process.exit(code)
}
