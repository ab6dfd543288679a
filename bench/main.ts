/**
 * `npm run bench -- <name>`: measures one part of the product against its references, on real parts.
 * Options: --rounds <n> (5), --only <words of a comparison's name>, --out <file> (.backstop/bench/<name>.json; a plot is written beside
 * it), --keep (keeps the logs).
 * Starts its own stack, whose MongoDB has 2 GiB of cache, or uses KAFKA_BROKERS, MONGO_URL and SCHEMA_REGISTRY_URL.
 * Exit code 1: a target is missed.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type ProgressSink, progressOn, startStack } from '@backstop/stack'
import { adminBenchmark } from './admin/benchmark.ts'
import { consoleBenchmark } from './console/benchmark.ts'
import { floodsBenchmark } from './floods/benchmark.ts'
import type { Benchmark, Comparison } from './frame/benchmark.ts'
import { type Compared, runComparison } from './frame/compare.ts'
import { describeMachine } from './frame/machine.ts'
import { setMongoCache } from './frame/mongo-cache.ts'
import { toSvg } from './frame/plot.ts'
import { toTable } from './frame/table.ts'
import { ingressBenchmark } from './ingress/benchmark.ts'
import { notifierBenchmark } from './notifier/benchmark.ts'
import { peersBenchmark } from './peers/benchmark.ts'
import { reconcilerBenchmark } from './reconciler/benchmark.ts'
import { tracesBenchmark } from './traces/benchmark.ts'

const ROOT = resolve(import.meta.dirname, '..')
const BENCHMARKS: readonly Benchmark[] = [
  ingressBenchmark,
  notifierBenchmark,
  reconcilerBenchmark,
  floodsBenchmark,
  adminBenchmark,
  consoleBenchmark,
  tracesBenchmark,
  peersBenchmark,
]

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    only: { type: 'string', default: '' },
    out: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
})
const benchmark = BENCHMARKS.find(({ name }) => name === positionals[0])
const rounds = Number(values.rounds)
if (benchmark === undefined || !Number.isInteger(rounds) || rounds < 1) {
  const list = BENCHMARKS.map(({ name, about }) => `  ${name}   ${about}\n`).join('')
  process.stderr.write(
    `Use: npm run bench -- <name> [--rounds 5] [--only <comparison>] [--out <file>] [--keep]\n${list}`,
  )
  process.exit(2)
}

const folder = mkdtempSync(join(tmpdir(), 'backstop-bench-'))
const log = progressOn(process.stderr)
const stops: (() => Promise<unknown>)[] = []
let isAllMet = false
let keepsLogs = values.keep
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void end(130))
try {
  const machine = describeMachine(new Date())
  const comparisons = await measure(benchmark)
  isAllMet = comparisons.every(({ targets }) => targets.every(target => target.isMet))
  const out = values.out ?? join(ROOT, '.backstop/bench', `${benchmark.name}.json`)
  mkdirSync(dirname(out), { recursive: true })
  writeFileSync(out, `${JSON.stringify({ benchmark: benchmark.name, rounds, machine, comparisons }, undefined, 2)}\n`)
  writeFileSync(out.replace(/(\.json)?$/, '.svg'), toSvg(comparisons))
  process.stdout.write(
    `\n${comparisons.map(toTable).join('\n\n')}\n\n${JSON.stringify(machine)}\nAll numbers: ${out}\n`,
  )
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
  keepsLogs = true
}
await end(isAllMet ? 0 : 1)

async function measure({ open }: Benchmark): Promise<Compared[]> {
  const dataDir = join(folder, 'stack')
  const stack = await startStack({ dataDir, log, env: process.env, endWithProcess: true })
  stops.push(() => stack.stop())
  if (!process.env.MONGO_URL) await setMongoCache(stack.urls.mongo)
  const step = log.step('set-up')
  step.update('topics, channels, receiver')
  const opened = await open({ stack: stack.urls, folder, log })
  stops.push(() => opened.stop())
  step.done('ready')
  const only = values.only.toLowerCase()
  const wanted = opened.comparisons.filter(
    ({ name, onRequest }) => name.toLowerCase().includes(only) && (only !== '' || onRequest !== true),
  )
  const done: Compared[] = []
  for (const comparison of wanted) done.push(await compare(comparison, log))
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
async function end(code: number): Promise<void> {
  for (const stop of stops.splice(0).reverse()) await stop().catch(error => process.stderr.write(`${error}\n`))
  if (keepsLogs) process.stderr.write(`Logs are in ${folder}\n`)
  else rmSync(folder, { recursive: true, force: true })
  process.exit(code)
}
