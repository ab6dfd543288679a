/**
 * `npm run steady-load`: keeps an installation under an even load, and shows whether the memory of a service or the number of its metrics
 * grows. Options: --rate <events a second> (250), --minutes <of load> (30), --warm-up <minutes without a judgement> (10), --snapshots
 * <folder for heap snapshots after the warm-up and at the end; they raise the resident memory>. Starts its own stack. Exit code 1: a service grew by 1 MB or more in ten
 * minutes, showed a new series after the warm-up, or an event or alert was lost, doubled, wrong or early.
 *
 * Memory is the heap and the buffers after a full garbage collection. The resident memory is shown too: the allocator keeps freed pages. On a
 * machine that does not keep up, the buffers contain messages that wait: then compare the samples before the load and after it.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { choosePorts, progressOn } from '@backstop/stack'
import { percentile } from '../bench/frame/statistics.ts'
import { openInstallation } from '../test/setup/installation/installation.ts'
import { type Load, startLoad } from '../test/setup/installation/load.ts'
import { verify } from '../test/setup/installation/verify.ts'
import { openInspector } from '../test/setup/product-inspector.ts'
import { type Product, startProduct } from './start/product.ts'
import { SERVICES, type ServiceName } from './start/service-environment.ts'
import { growthOf, type Sample } from './steady-load/growth.ts'
import { type InspectedProcess, inspectProcess } from './steady-load/inspected-process.ts'

const { values } = parseArgs({
  options: {
    rate: { type: 'string', default: '250' },
    minutes: { type: 'string', default: '30' },
    'warm-up': { type: 'string', default: '10' },
    snapshots: { type: 'string' },
  },
})
const PER_SECOND = Number(values.rate)
const MINUTES = Number(values.minutes)
const WARM_UP_MINUTES = Number(values['warm-up'])
const MINUTE_MS = 60_000
/** Growth of a service in ten minutes that is a leak. */
const LEAK_BYTES = 1_000_000

const print = (line: string) => void process.stdout.write(`${line}\n`)
const inMb = (bytes: number) => (bytes / 1e6).toFixed(2)
const folder = mkdtempSync(join(tmpdir(), 'backstop-steady-'))
const ports = await choosePorts(Object.fromEntries(SERVICES.map(name => [name, {}])) as Record<ServiceName, object>)
let product: Product | undefined
try {
  product = await startProduct({
    dataDir: folder,
    env: process.env,
    topicPrefix: 'steady.',
    log: progressOn(process.stderr),
    serviceEnv: Object.fromEntries(
      SERVICES.map(name => [name, { NODE_OPTIONS: `--inspect=127.0.0.1:${ports[name]}` }]),
    ),
  })
  process.exitCode = (await runLoad(product)) ? 0 : 1
} finally {
  await product?.stop()
  if (process.exitCode === 0) rmSync(folder, { recursive: true, force: true })
  else print(`Logs are in ${folder}`)
}

async function runLoad(running: Product): Promise<boolean> {
  const installation = await openInstallation(running, { twins: false })
  const inspector = await openInspector(running)
  const processes = await Promise.all(
    SERVICES.map(name => inspectProcess(name, running.children[name].opsUrl, ports[name])),
  )
  await reportSample('before the load', processes, 0)
  const load = startLoad({
    name: 'steady',
    perSecond: PER_SECOND,
    connections: installation.connections,
    targets: () => [running.urls.ingress],
    report: refunds => installation.report(refunds),
  })
  print(`${PER_SECOND} events a second for ${MINUTES} minutes; load average ${loadavg()[0]?.toFixed(1)}`)
  const samples = await sampleEachMinute(processes, load)
  await load.stop()
  await sleep(MINUTE_MS)
  await inspector.untilIdle(180_000)
  await reportSample('after the load', processes, 0)
  for (const one of processes) one.close()
  const isSteady = reportGrowth(samples)
  const { events, alerts, differences } = await verify(
    installation.database,
    load.sent,
    installation.receiver.deliveries(),
  )
  print(
    `${events} events, ${alerts} alerts: ${differences.length === 0 ? 'nothing lost, doubled, wrong or early' : ''}`,
  )
  for (const difference of differences) print(`  ${difference}`)
  await inspector.stop()
  await installation.stop()
  return isSteady && differences.length === 0
}

/** @returns the samples by process, the first of the first minute */
async function sampleEachMinute(
  processes: readonly InspectedProcess[],
  load: Load,
): Promise<ReadonlyMap<string, readonly Sample[]>> {
  const startedAt = performance.now()
  const samples = new Map<string, Sample[]>(processes.map(({ name }) => [name, []]))
  for (let minute = 1, answered = 0; minute <= MINUTES; minute += 1) {
    await sleep(Math.max(0, startedAt + minute * MINUTE_MS - performance.now()))
    const latenciesMs = load.latenciesMs.slice(answered)
    answered = load.latenciesMs.length
    const p99 = latenciesMs.length === 0 ? 0 : percentile(latenciesMs, 0.99)
    const period = `${minute} min: ${answered} acknowledged, p99 ${p99.toFixed(0)} ms`
    const taken = await reportSample(period, processes, performance.now() - startedAt)
    for (const [name, sample] of taken) samples.get(name)?.push(sample)
    if (minute === WARM_UP_MINUTES || minute === MINUTES) await writeSnapshots(processes, minute)
  }
  return samples
}

async function reportSample(when: string, processes: readonly InspectedProcess[], atMs: number) {
  const taken = new Map<string, Sample>()
  for (const one of processes) taken.set(one.name, await one.sample(atMs))
  const shown = [...taken].map(
    ([name, { usedBytes, residentBytes, series }]) =>
      `${name} ${inMb(usedBytes)}/${inMb(residentBytes)} MB ${series.size} series`,
  )
  print(`${when}; ${shown.join('; ')}`)
  return taken
}

async function writeSnapshots(processes: readonly InspectedProcess[], minute: number): Promise<void> {
  if (values.snapshots === undefined) return
  mkdirSync(values.snapshots, { recursive: true })
  for (const one of processes) await one.writeSnapshot(join(values.snapshots, `${one.name}-${minute}.heapsnapshot`))
}

/** @returns true if no service grew */
function reportGrowth(samples: ReadonlyMap<string, readonly Sample[]>): boolean {
  print(`Growth in ten minutes, after the first ${WARM_UP_MINUTES}:`)
  let isSteady = true
  for (const [name, some] of samples) {
    const { usedBytesPer10Min, residentBytesPer10Min, newSeries } = growthOf(
      some.slice(0, WARM_UP_MINUTES),
      some.slice(WARM_UP_MINUTES),
    )
    print(
      `${name}: ${inMb(usedBytesPer10Min)} MB used, ${inMb(residentBytesPer10Min)} MB resident; ${newSeries.length} new series`,
    )
    for (const series of newSeries) print(`  new: ${series}`)
    isSteady &&= usedBytesPer10Min < LEAK_BYTES && newSeries.length === 0
  }
  return isSteady
}
