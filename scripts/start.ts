/**
 * `npm start` runs the whole product on this machine, with a demo up to its first alert.
 *
 * All stored data is in .backstop/ and is used by the next start. `npm start -- --help` shows the options.
 */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { choosePorts, identify, type ProcessIdentity, progressOn, stopPartsOwnedBy } from '@backstop/stack'
import { versionOf } from './release/version.ts'
import { buildConsoleInChild } from './start/build-console.ts'
import { browserOf, consoleLines, createConsoleLink, openInBrowser } from './start/console-link.ts'
import { createDemoRecords } from './start/demo/demo-records.ts'
import type { DemoSetup } from './start/demo/demo-setup.ts'
import { createFactPrinter } from './start/demo/fact-printer.ts'
import { runDemo } from './start/demo/run-demo.ts'
import { runDemoWeek, type WeekRecord } from './start/demo/week/run-week.ts'
import { createManagementApi } from './start/management-api.ts'
import { nextStepLines, shownPath } from './start/next-steps.ts'
import { type Product, startProduct } from './start/product.ts'
import { USUAL_PORTS } from './start/product-ports.ts'
import { findRefusedKey } from './start/refused-key.ts'
import { createRunRecords, type RunFile, type RunRecords } from './start/run-file.ts'
import type { ServiceProcess } from './start/service-process.ts'
import { describeFault } from './start/start-fault.ts'
import { readStartOptions, USAGE } from './start/start-options.ts'
import { onStopRequest } from './start/stop-signals.ts'

const DEFAULT_DATA_DIR = fileURLToPath(new URL('../.backstop', import.meta.url))
const LATE_AFTER_MS = 30_000
/** The start time of the bootstrap, which may have installed packages before this process. */
const STARTED_AT_MS = Number(process.env.BACKSTOP_STARTED_AT_MS ?? Date.now())

const command = readStartOptions(process.argv.slice(2), process.env, DEFAULT_DATA_DIR)
if (command.kind !== 'start') {
  process.stdout.write(command.kind === 'help' ? `${USAGE}\n` : `✗ ${command.fault}\n\n${USAGE}\n`)
  process.exit(command.kind === 'help' ? 0 : 2)
}
const { withDemo, opensBrowser, dataDir, recheckDelayMs, topicPrefix } = command.options

let stopping = false
const printer = createFactPrinter(process.stdout, Date.now)
const say = printer.print

/** Prints the progress of the start. After a stop it prints nothing, because the failures are only a result of the stop. */
const progress = progressOn({
  isTTY: process.stdout.isTTY,
  get columns() {
    return process.stdout.columns || 80
  },
  write: (text: string) => stopping || process.stdout.write(text),
})

/** The functions that stop everything, called in reverse order. */
const running: (() => Promise<void> | void)[] = []

async function stopAll(why: string, exitCode: number): Promise<never> {
  if (stopping) return new Promise(() => {})
  stopping = true
  printer.status(undefined)
  say(`\nStopping (${why})`)
  for (const stop of running.toReversed()) {
    try {
      await stop()
    } catch (error) {
      say(`While stopping: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  say(`Stopped. Stored data stays in ${shownPath(dataDir)}`)
  process.exit(exitCode)
}

/** Reports that another launcher uses the data folder. @returns the exit code */
function reportRunning(pid: number, run: RunFile | undefined): number {
  if (run === undefined) {
    say(`Process ${pid} is starting Backstop here. Wait for it, or stop it:  kill ${pid}`)
    return 1
  }
  say(`Backstop already runs here (process ${pid})`)
  say(`  Management API  ${run.admin}\n  Inbound         ${run.ingress}\n  Mail catcher    ${run.mail}`)
  say(
    `  API key         ${run.key}\n\nOpen the console:  npm run console:open\n\nStop it with Ctrl-C in its terminal, or:  kill ${pid}`,
  )
  return 0
}

async function start(records: RunRecords): Promise<void> {
  const spawned = new Set<ServiceProcess>()
  let product: Product | undefined
  const report = (text: string) => (product === undefined ? progress.print(text) : say(text))
  const building = buildConsoleBeside(report)
  // An interrupted start has no product yet, so its processes are stopped separately.
  running.push(async () => {
    if (product !== undefined) return product.stop()
    await Promise.all([...spawned].map(process => process.stop()))
    await stopPartsOwnedBy(identify(process.pid) as ProcessIdentity, join(dataDir, 'stack'))
  })
  product = await startProduct({
    dataDir,
    env: process.env,
    ports: USUAL_PORTS,
    recheckDelayMs,
    topicPrefix,
    log: progress,
    spawned(process) {
      spawned.add(process)
      records.recordService(process.name, process.identity)
    },
    supervision: { say: report, isStopping: () => stopping },
  })
  const run = runFileOf(product)
  records.writeRun(run)
  const refusedKey = await findRefusedKey(product.urls.admin, product.key, dataDir)
  if (refusedKey !== undefined) say(`\n${describeFault(refusedKey)}`)
  else if (withDemo) return startDemo(product, building, demo => records.writeRun({ ...run, ...demo }))
  await building
  await showNextSteps(product)
  if (refusedKey === undefined) await openConsole(product)
}

/** A link that signs in to the console once, within five minutes. Undefined if the API refuses to create it. */
function linkToConsole({ urls, key }: Product, path?: string): Promise<string | undefined> {
  return createConsoleLink(createManagementApi(urls.admin, key), path).catch(() => undefined)
}

/** Opens the console in the browser of a person at a terminal, unless the options or the environment forbid it. */
async function openConsole(product: Product, path?: string): Promise<void> {
  const browser = browserOf({ isTTY: process.stdout.isTTY === true, env: process.env, platform: process.platform })
  if (!opensBrowser || browser === undefined) return
  const link = await linkToConsole(product, path)
  if (link !== undefined) openInBrowser(browser, link)
}

/** Builds the console beside everything else. The rest works without it, so a failure is only reported. */
async function buildConsoleBeside(report: (text: string) => void): Promise<void> {
  const startedAtMs = Date.now()
  try {
    const result = await buildConsoleInChild()
    report(`✓ console: ${result} (${((Date.now() - startedAtMs) / 1000).toFixed(1)} s)`)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    if (!stopping) report(`✗ console: ${why}\n  → npm run console shows more`)
  }
}

/** @param consoleBuilt not awaited before the refunds, so that a first start shows its first alert sooner */
async function startDemo(
  product: Product,
  consoleBuilt: Promise<void>,
  ready: (demo: Required<Pick<RunFile, 'project' | 'processor'>>) => void,
): Promise<void> {
  const demoRecords = createDemoRecords(join(dataDir, 'demo.json'), product.secretsFingerprint)
  const kept = demoRecords.read()
  const demo = await runDemo({
    kept,
    saveRecord: demoRecords.write,
    ports: await choosePorts({
      receiver: { remembered: kept?.receiver_port },
      processor: { remembered: kept?.processor_port },
    }),
    ingressUrl: product.urls.ingress,
    adminUrl: product.urls.admin,
    key: product.key,
    printer,
  })
  running.push(demo.stop)
  const { processorUrl, record } = demo.setup
  ready({ project: record.project_id, processor: { url: processorUrl, key: record.processor_key } })
  const page = incidentsOf(demo.setup)
  const consoleShown = consoleBuilt.then(() => showConsole(product, page))
  // The accounts of an existing week are served at once. A new week waits, so that it does not delay the first alert.
  const waits = weekRecordsOf(product).read()?.is_whole !== true && demo.setup.outOfBand !== 'ignore'
  if (!waits) void startWeek(product)
  if (demo.setup.outOfBand === 'ignore') {
    say(
      '\nThe demo account sends no alerts, because its out_of_band was set to ignore. The last command of docs/first-steps.md sets it to alert.',
    )
    await consoleShown
    return showNextSteps(product, page)
  }
  const hint = setTimeout(() => {
    say(`\nNo alert yet, which is late. The services' logs are in ${join(dataDir, 'logs')}`)
  }, recheckDelayMs + LATE_AFTER_MS)
  hint.unref()
  void demo.firstAlert.then(({ refundedAtMs, alertedAtMs }) => {
    clearTimeout(hint)
    const afterRefund = ((alertedAtMs - refundedAtMs) / 1000).toFixed(1)
    const afterStart = ((alertedAtMs - STARTED_AT_MS) / 1000).toFixed(1)
    say(`\nFirst alert ${afterRefund} s after the refund, ${afterStart} s after the start.`)
    void consoleShown.then(() => showNextSteps(product, page)).then(() => (waits ? startWeek(product) : undefined))
  })
}

/** Shows the console, mostly before the first alert, so that the person sees it arrive there. */
async function showConsole(product: Product, path: string): Promise<void> {
  const link = await linkToConsole(product, path)
  if (link !== undefined) say(`\n${consoleLines(link).join('\n')}\n`)
  await openConsole(product, path)
}

/** Prints the five lines that say how to go on, with a new link to the console. */
async function showNextSteps(product: Product, path?: string): Promise<void> {
  const consoleLink = await linkToConsole(product, path)
  const lines = nextStepLines({ consoleLink, hasDemo: withDemo, mailUrl: product.urls.mail, dataDir })
  say(`\nBackstop runs. What happens shows below.\n\n${lines.join('\n')}\n`)
}

/** Runs the demo's week beside everything else. A failure is reported and changes nothing else. */
async function startWeek(product: Product): Promise<void> {
  const api = createManagementApi(product.urls.admin, product.key)
  try {
    const week = await runDemoWeek({ api, records: weekRecordsOf(product) })
    if (week.kind === 'removed') return
    running.push(week.stop)
    if (week.kind === 'made' && (await week.whole))
      say('\nThe project "Example company" in the console has a week of made-up history.\n')
  } catch (error) {
    if (!stopping) say(`\nThe demo's week could not be made: ${error instanceof Error ? error.message : String(error)}`)
  }
}

const weekRecordsOf = ({ secretsFingerprint }: Product) =>
  createDemoRecords<WeekRecord>(join(dataDir, 'demo-week.json'), secretsFingerprint)

const incidentsOf = ({ record }: DemoSetup) => `/p/${record.project_id}/incidents`

function runFileOf(product: Product): RunFile {
  return {
    ingress: product.urls.ingress,
    admin: product.urls.admin,
    console: `${product.urls.admin}/`,
    mail: product.urls.mail,
    smtp: product.urls.smtp,
    key: product.key,
    mongo: product.urls.mongo,
    database: product.database,
    kafka: product.urls.kafka,
    registry: product.urls.registry,
    topic_prefix: product.topicPrefix,
    recheck_delay_ms: recheckDelayMs,
    pids: Object.fromEntries(product.processes().map(({ name, pid }) => [name, pid ?? 0])),
    launcher: process.pid,
  }
}

async function claimFolder(records: RunRecords): Promise<void> {
  const claim = await records.claim()
  if (claim.kind === 'taken') process.exit(reportRunning(claim.pid, claim.run))
  if (claim.endedLeftovers.length > 0)
    say(`Ended services that a killed launcher left running: ${claim.endedLeftovers.join(', ')}`)
  running.push(() => records.clear())
}

const records = createRunRecords(dataDir)
try {
  await claimFolder(records)
} catch (error) {
  say(describeFault(error))
  process.exit(1)
}
say(`Backstop ${versionOf(import.meta.dirname)}`)
onStopRequest(
  why => void stopAll(why, 0),
  () => process.exit(130),
)
try {
  await start(records)
} catch (error) {
  // The failure of an interrupted start is not reported, because the interruption caused it.
  if (!stopping) say(`\n${describeFault(error)}`)
  await stopAll('it could not start', 1)
}
