/**
 * `npm test` runs all tests with their set-up, `npm run test:unit` the tests without dependencies, `npm run test:docker` the
 * compose file on a container engine. It starts its own stack, so that it can run beside `npm start`, and stops it at the end.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { progressOn, type RunningStack, startStack } from '@backstop/stack'
import { buildConsole } from '../packages/console/scripts/build-console.ts'

const ROOT = resolve(import.meta.dirname, '..')

/** The parts of a full run. The fastest parts are first, so that their failures are seen early. */
const PROJECTS = ['unit', 'integration', 'system', 'alone'] as const
/** The parts that run only on request: the first one needs a container engine, the second one takes minutes of all cores. */
const ON_REQUEST = ['docker', 'mutation'] as const
type Project = (typeof PROJECTS)[number] | (typeof ON_REQUEST)[number]

/**
 * The number of test files that run at the same time. Unit tests compute, so they get one worker for each core. Other tests
 * mostly wait, so they get one more. A system test runs several products of four processes each, and five such tests overload two
 * slow cores.
 */
const WORKERS: Record<Project, number> = { unit: 3, integration: 3, system: 3, alone: 1, docker: 1, mutation: 1 }

interface Counts {
  passed: number
  failed: number
}

const started = performance.now()
const [only, ...filters] = process.argv.slice(2)
const parts: readonly Project[] = [...PROJECTS, ...ON_REQUEST]
const wanted: readonly Project[] = only === undefined ? PROJECTS : parts.filter(project => project === only)
if (wanted.length === 0) {
  process.stderr.write(`There is no part "${only}": give ${parts.join(', ')}, or nothing for the first four\n`)
  process.exit(2)
}

const scratch = mkdtempSync(join(tmpdir(), 'backstop-test-'))
let stack: RunningStack | undefined
const ended = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ended.abort())

try {
  process.exitCode = await runAll()
} finally {
  await stack?.stop()
  if (process.exitCode === 0) rmSync(scratch, { recursive: true, force: true })
  else process.stderr.write(`Logs of the stack and of the services are in ${scratch}\n`)
}

async function runAll(): Promise<number> {
  const needsConsole = wanted.some(project => project === 'system' || project === 'alone')
  const needsStack = wanted.some(project => project === 'integration' || project === 'system' || project === 'alone')
  const starting = needsStack ? startTestStack() : undefined
  const building = needsConsole ? buildConsole(line => process.stdout.write(`${line}\n`)) : undefined
  // The promises are awaited below. Until then a rejection must not be reported as unhandled.
  starting?.catch(() => {})
  building?.catch(() => {})
  const total: Counts = { passed: 0, failed: 0 }
  if (only === undefined) count(total, await runCheck())
  for (const project of wanted) {
    if (project !== 'unit') stack = await starting
    if (project === 'system' || project === 'alone') await building
    count(total, await runVitest(project))
    if (ended.signal.aborted) break
  }
  const seconds = Math.round((performance.now() - started) / 1000)
  process.stdout.write(`\n${total.failed === 0 ? 'All is well' : 'Something failed'} after ${seconds} s\n`)
  process.stdout.write(`${total.passed} passed, ${total.failed} failed\n`)
  return total.failed === 0 && total.passed > 0 && !ended.signal.aborted ? 0 : 1
}

function count(total: Counts, more: Counts): void {
  total.passed += more.passed
  total.failed += more.failed
}

function startTestStack(): Promise<RunningStack> {
  return startStack({
    dataDir: join(scratch, 'stack'),
    log: progressOn(process.stderr),
    env: process.env,
    endWithProcess: true,
  })
}

/** Runs the static checks, which are reported as one test. */
async function runCheck(): Promise<Counts> {
  const code = await run([join(ROOT, 'scripts/check.ts')], {})
  return code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 }
}

async function runVitest(project: Project): Promise<Counts> {
  process.stdout.write(`\n── ${project} tests\n`)
  const report = join(scratch, `${project}.json`)
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const workers = `--maxWorkers=${WORKERS[project]}`
  const code = await run([vitest, 'run', '--project', project, workers, ...reporters, ...filters], stackEnvironment())
  const { passed, failed } = readReport(report)
  // A run without tests, or with an error outside of tests, has failed too.
  return code === 0 && passed > 0 ? { passed, failed } : { passed, failed: Math.max(1, failed) }
}

function readReport(path: string): Counts {
  try {
    const report = JSON.parse(readFileSync(path, 'utf8')) as { numPassedTests: number; numFailedTests: number }
    return { passed: report.numPassedTests, failed: report.numFailedTests }
  } catch {
    return { passed: 0, failed: 0 }
  }
}

/** The environment of the tests, with the URLs of the stack (packages/kit/test/stack.ts) and the folder for their data. */
function stackEnvironment(): Record<string, string> {
  const folder = { BACKSTOP_TEST_DATA: join(scratch, 'products') }
  if (stack === undefined) return folder
  const { kafka, mongo, registry, smtp, mail } = stack.urls
  return {
    ...folder,
    BACKSTOP_TEST_KAFKA: kafka,
    BACKSTOP_TEST_MONGO: mongo,
    BACKSTOP_TEST_REGISTRY: registry,
    BACKSTOP_TEST_SMTP: smtp,
    BACKSTOP_TEST_MAIL: mail,
  }
}

function run(args: string[], env: Record<string, string>): Promise<number> {
  return new Promise(resolve => {
    const child = spawn(process.execPath, args, { cwd: ROOT, env: { ...process.env, ...env }, stdio: 'inherit' })
    const stop = () => child.kill('SIGTERM')
    ended.signal.addEventListener('abort', stop, { once: true })
    child.once('exit', code => {
      ended.signal.removeEventListener('abort', stop)
      resolve(code ?? 1)
    })
  })
}
