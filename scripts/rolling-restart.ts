/**
 * `npm run rolling-restart`: restarts every process of an installation under load, one after another, as a rollout in Kubernetes does, and
 * compares what was sent with what was recorded and delivered. Options: --rate <events a second> (500), --keep (keeps the logs), --from
 * <checkout of another version, with its packages installed>. Starts its own stack. Exit code 1: an event or alert was lost, doubled, wrong
 * or early.
 *
 * With --from it is an update: the deploy jobs of the other version and of this one run, the processes of the other version work with what
 * they made, each process is replaced by this version, and then by the other version again, as in a rollback.
 *
 * A process of ingress or admin-api gets no new requests before it gets SIGTERM, as by the `preStop` of its pod, and a new one gets requests
 * when it is ready. Every second look happens after a minute, as in production.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs, promisify } from 'node:util'
import { progressOn, type RunningStack, type StackUrls, startStack } from '@backstop/stack'
import { percentile } from '../bench/frame/statistics.ts'
import { openInstallation } from '../test/setup/installation/installation.ts'
import { type Load, startLoad } from '../test/setup/installation/load.ts'
import { type Verification, verify } from '../test/setup/installation/verify.ts'
import { openInspector } from '../test/setup/product-inspector.ts'
import { ProcessorTime, type Stored, storedInKafka, storedInMongo } from './rolling-restart/usage.ts'
import { type Product, startProduct } from './start/product.ts'
import { databaseName } from './start/service-environment.ts'
import type { ServiceProcess } from './start/service-process.ts'

const { values } = parseArgs({
  options: {
    rate: { type: 'string', default: '500' },
    keep: { type: 'boolean', default: false },
    from: { type: 'string' },
  },
})
const HERE = resolve(import.meta.dirname, '..')
const FROM = values.from === undefined ? undefined : resolve(values.from)
/** The folder of the code that each process runs at its next start. */
const codeFolders = new Map<string, string>()
const PER_SECOND = Number(values.rate)
/** Time under load before the first restart, and between two. */
const BEFORE_MS = 15_000
const BETWEEN_MS = 5_000
/** The drain of the pods of ingress and admin-api (deploy/k8s), shorter because no proxy must learn of it here. */
const DRAIN_MS = 2_000
/** The shortest terminationGracePeriodSeconds of the pods. */
const GRACE_MS = 60_000
const MINUTE_MS = 60_000

const PREFIX = 'roll.'

const print = (line: string) => void process.stdout.write(`${line}\n`)
const folder = mkdtempSync(join(tmpdir(), 'backstop-rolling-'))
let keepsLogs = values.keep
let product: Product | undefined
let stack: RunningStack | undefined
try {
  const log = progressOn(process.stderr)
  // Not named `stack`: a data folder with a stack and without secrets counts as one that lost its key, which 0.2.0 cannot read.
  stack = await startStack({ dataDir: join(folder, 'servers'), log, env: process.env, endWithProcess: true })
  if (FROM !== undefined) await runDeployJob(FROM, stack.urls)
  product = await startProduct({
    dataDir: folder,
    env: process.env,
    stackUrls: stack.urls,
    topicPrefix: PREFIX,
    log,
    codeFolderOf: name => codeFolders.get(name) ?? FROM ?? HERE,
  })
  process.exitCode = (await rollAll(product)) ? 0 : 1
} finally {
  await product?.stop()
  await stack?.stop()
  keepsLogs ||= process.exitCode !== 0
  if (keepsLogs) print(`Logs are in ${folder}`)
  else rmSync(folder, { recursive: true, force: true })
}

async function rollAll(running: Product): Promise<boolean> {
  const installation = await openInstallation(running, { twins: true })
  const inspector = await openInspector(running)
  const out = new Set<ServiceProcess>()
  const processorTime = new ProcessorTime()
  const [ingress = []] = installation.pairs
  const startedAt = performance.now()
  const load = startLoad({
    name: 'roll',
    perSecond: PER_SECOND,
    connections: installation.connections,
    targets: () => ingress.filter(one => !out.has(one)).map(({ mainUrl }) => mainUrl ?? ''),
    report: refunds => installation.report(refunds),
  })
  print(`${PER_SECOND} events a second; load average ${loadavg()[0]?.toFixed(1)}`)
  await sleep(BEFORE_MS)
  reportPeriod('before', load, 0)
  let isClean = true
  for (const folderOfCode of FROM === undefined ? [HERE] : [HERE, FROM]) {
    if (FROM !== undefined) print(folderOfCode === HERE ? 'To this version:' : 'Back to the other version:')
    for (const one of installation.pairs.flat()) {
      codeFolders.set(one.name, folderOfCode)
      isClean = (await roll(one, load, out, processorTime)) && isClean
      await sleep(BETWEEN_MS)
    }
  }
  const seconds = (performance.now() - startedAt) / 1_000
  await load.stop()
  print(`${load.sent.length} events in ${seconds.toFixed(0)} s: ${(load.sent.length / seconds).toFixed(0)} a second`)
  await sleep(MINUTE_MS)
  await inspector.untilIdle(180_000)
  for (const one of installation.pairs.flat()) await processorTime.add(one)
  const verification = await verify(installation.database, load.sent, installation.receiver.deliveries())
  reportEnd(load, verification)
  const kafka = join(folder, 'servers', 'kafka')
  reportUsage(load.sent.length, processorTime, await storedInMongo(installation.database), keptByKafka(kafka))
  await inspector.stop()
  await installation.stop()
  return isClean && verification.differences.length === 0
}

/** Runs the deploy job of another version. */
async function runDeployJob(checkout: string, urls: StackUrls): Promise<void> {
  const settings = {
    KAFKA_BROKERS: urls.kafka,
    KAFKA_TOPIC_PREFIX: PREFIX,
    MONGO_URL: urls.mongo,
    MONGO_DB: databaseName(PREFIX),
    SCHEMA_REGISTRY_URL: urls.registry,
    TOPIC_REPLICATION: '1',
    TOPIC_MIN_INSYNC: '1',
  }
  const env = { ...process.env, ...settings }
  await promisify(execFile)(process.execPath, ['packages/provision/src/main.ts'], { cwd: checkout, env })
}

function keptByKafka(kafka: string): Stored[] {
  const holder = [kafka, ...readdirSync(kafka, { recursive: true }).map(name => join(kafka, String(name)))].find(path =>
    isFolderOfPartitions(path),
  )
  return holder === undefined ? [] : storedInKafka(holder, PREFIX)
}

function isFolderOfPartitions(path: string): boolean {
  try {
    return readdirSync(path).includes(`${PREFIX}operations-0`)
  } catch {
    return false
  }
}

/** Restarts one process. @returns false if it did not end by itself with exit code 0 */
async function roll(one: ServiceProcess, load: Load, out: Set<ServiceProcess>, time: ProcessorTime): Promise<boolean> {
  const before = load.latenciesMs.length
  await time.add(one)
  out.add(one)
  if (one.mainUrl !== undefined) await sleep(DRAIN_MS)
  const stoppedAt = performance.now()
  one.kill('SIGTERM')
  const end = await Promise.race([one.exited, sleep(GRACE_MS, undefined, { ref: false })])
  const stopMs = performance.now() - stoppedAt
  if (end === undefined) await one.stop(0)
  one.start()
  await one.untilReady()
  const downMs = performance.now() - stoppedAt
  out.delete(one)
  const exit = end === undefined ? 'killed' : `exit code ${end.code}`
  reportPeriod(
    `${one.name}: ${exit} after ${(stopMs / 1_000).toFixed(1)} s, ready after ${(downMs / 1_000).toFixed(1)} s`,
    load,
    before,
  )
  return end?.code === 0
}

function reportPeriod(what: string, load: Load, from: number): void {
  const some = load.latenciesMs.slice(from)
  const failed = Object.entries(load.failures).map(([name, count]) => `${count} ${name}`)
  print(
    `${what}; acknowledged ${some.length}, p50 ${percentile(some, 0.5).toFixed(0)} ms, p99 ${percentile(some, 0.99).toFixed(0)} ms; failed attempts so far: ${failed.join(', ') || 'none'}`,
  )
}

function reportEnd(load: Load, { events, alerts, differences, lateMs }: Verification): void {
  const failed = Object.entries(load.failures).map(([name, count]) => `${count} ${name}`)
  print(`Failed attempts, all repeated: ${failed.join(', ') || 'none'}`)
  const shown = [0.5, 0.99, 1].map(share => `${(percentile(lateMs, share) / 1_000).toFixed(1)} s`)
  print(`From the due second look to the delivery: p50 ${shown[0]}, p99 ${shown[1]}, longest ${shown[2]}`)
  print(
    `${events} events, ${alerts} alerts: ${differences.length === 0 ? 'nothing lost, doubled, wrong or early' : ''}`,
  )
  for (const difference of differences) print(`  ${difference}`)
}

function reportUsage(events: number, time: ProcessorTime, mongo: readonly Stored[], kafka: readonly Stored[]): void {
  for (const [service, seconds] of time.seconds()) {
    print(`processor time of ${service}: ${((seconds / events) * 1e6).toFixed(0)} µs for each event`)
  }
  const perEvent = (stored: readonly Stored[]) =>
    stored.map(({ name, bytes }) => `${name} ${(bytes / events).toFixed(0)}`).join(', ')
  print(`bytes of MongoDB for each event: ${perEvent(mongo)}`)
  print(`bytes of Kafka for each event, one copy: ${perEvent(kafka)}`)
}
