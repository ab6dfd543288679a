/**
 * `npm test` runs all tests with their set-up, `npm run test:unit` the tests without dependencies, `npm run test:docker` the
 * compose file on a container engine. It starts its own stack, so that it can run beside `npm start`, and stops it at the end.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { progressOn, type RunningStack, startStack } from '@backstop/stack'
import { buildConsole } from '../packages/console/scripts/build-console.ts'
import { hasFailed, readReport, type TestedFile, withRepeated } from './test/test-report.ts'

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

/**
 * With more failed files than this the change is broken, and a second run would only take time. Fewer are repeated alone, because a
 * busy machine can delay a test beyond its deadline.
 */
const MOST_REPEATED = 6

/** The result of a part: its files, and whether an error outside of its files, or a run without tests, ended it. */
interface PartResult {
  project: Project
  files: TestedFile[]
  broke: boolean
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
  const checked = only !== undefined || (await runCheck())
  const ran: PartResult[] = []
  for (const project of wanted) {
    if (project !== 'unit') stack = await starting
    if (project === 'system' || project === 'alone') await building
    ran.push(await runVitest(project))
    if (ended.signal.aborted) break
  }
  const results = await repeatFailed(ran)
  const passed = results.reduce((sum, part) => sum + part.files.reduce((files, file) => files + file.passed, 0), 0)
  const failures = [...(checked ? [] : ['npm run check']), ...results.flatMap(failuresOf)]
  if (failures.length > 0) process.stdout.write(`\nFailed:\n${failures.map(line => `  ${line}\n`).join('')}`)
  const seconds = Math.round((performance.now() - started) / 1000)
  process.stdout.write(`\n${failures.length === 0 ? 'All is well' : 'Something failed'} after ${seconds} s\n`)
  process.stdout.write(`${passed} passed, ${failures.length} failed\n`)
  return failures.length === 0 && passed > 0 && !ended.signal.aborted ? 0 : 1
}

/** Runs the failed files once more, one after another, and says which of them pass now. */
async function repeatFailed(ran: PartResult[]): Promise<PartResult[]> {
  const failedFiles = ran.flatMap(part => part.files.filter(hasFailed))
  if (failedFiles.length > MOST_REPEATED || ended.signal.aborted) return ran
  const results: PartResult[] = []
  for (const part of ran) {
    const failed = part.files.filter(hasFailed)
    if (failed.length === 0) {
      results.push(part)
      continue
    }
    const names = failed.map(file => relative(ROOT, file.path))
    process.stdout.write(`\n── ${part.project} tests again, alone: ${names.join(', ')}\n`)
    const again = await runVitest(part.project, names)
    results.push({ ...part, files: withRepeated(part.files, again.files), broke: part.broke || again.broke })
    const passed = again.files.filter(file => !hasFailed(file)).map(file => relative(ROOT, file.path))
    if (passed.length > 0) process.stdout.write(`Passed only when repeated alone: ${passed.join(', ')}\n`)
  }
  return results
}

/** A line for each failure of a part. */
function failuresOf({ project, files, broke }: PartResult): string[] {
  const lines = files.flatMap(file =>
    file.failures.map(({ test, error }) => `${relative(ROOT, file.path)}: ${test === null ? '' : `${test}: `}${error}`),
  )
  return broke && lines.length === 0
    ? [`${project} tests: an error outside of the tests, or no test; see the output above`]
    : lines
}

function startTestStack(): Promise<RunningStack> {
  return startStack({
    dataDir: join(scratch, 'stack'),
    log: progressOn(process.stderr),
    env: process.env,
    endWithProcess: true,
  })
}

/** Whether the static checks pass. */
async function runCheck(): Promise<boolean> {
  return (await run([join(ROOT, 'scripts/check.ts')], {})) === 0
}

/**
 * Runs a part.
 * @param alone paths of the only files to run, one after another
 */
async function runVitest(project: Project, alone?: readonly string[]): Promise<PartResult> {
  if (alone === undefined) process.stdout.write(`\n── ${project} tests\n`)
  const report = join(scratch, alone === undefined ? `${project}.json` : `${project}-again.json`)
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const workers = `--maxWorkers=${alone === undefined ? WORKERS[project] : 1}`
  const paths = alone ?? filters
  const code = await run([vitest, 'run', '--project', project, workers, ...reporters, ...paths], stackEnvironment())
  const files = readReport(report) ?? []
  const passed = files.some(file => file.passed > 0)
  // A run without a passed test, or with an error outside of its files, has failed too.
  return { project, files, broke: !files.some(hasFailed) && (code !== 0 || !passed) }
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
