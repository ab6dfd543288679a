/**
 * `npm test` runs all tests with their set-up, `npm run test:unit` the tests without dependencies, `npm run test:docker` the
 * compose file on a container engine, and `npm run test:soak` a few tests with many more cases. It starts its own stack, so that it
 * can run beside `npm start`, and stops it at the end.
 */
import { type StdioOptions, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { setPriority, tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { progressOn, type RunningStack, startStack } from '@backstop/stack'
import { buildConsoleInChild } from './start/build-console.ts'
import { hasFailed, readReport, type TestedFile, withRepeated } from './test/test-report.ts'

const ROOT = resolve(import.meta.dirname, '..')

/** The kinds of tests (vitest.config.ts). */
type Kind = 'unit' | 'simulation' | 'integration' | 'system' | 'servers' | 'alone' | 'docker' | 'mutation'

/** A part of a run: kinds of tests that share workers, and the number of files that run at the same time. */
interface Part {
  readonly kinds: readonly Kind[]
  readonly workers: number
  /** The name on the command line; the kinds by default. */
  readonly name?: string
  /** The only files to run; all of the kinds by default. */
  readonly files?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** A full run runs it with this environment beside the next parts, at a low priority, because it only computes. */
  readonly beside?: Readonly<Record<string, string>>
}

/**
 * The parts of a full run. The fastest part is early, so that its failures are seen early. A system test mostly waits, but it runs products
 * of four processes, and five such tests overload two slow cores. So system and integration tests share five workers: while some wait,
 * others compute. Unit tests wait half of the time, too. The simulation has what all of them leave idle.
 */
const FULL_RUN: readonly Part[] = [
  { kinds: ['simulation'], workers: 1, beside: { BACKSTOP_TEST_SEEDS: '100' } },
  { kinds: ['unit'], workers: 4 },
  { kinds: ['servers'], workers: 5 },
  { kinds: ['alone'], workers: 1 },
]
/** The parts that run only on request. `docker` needs a container engine, `mutation` and `soak` take minutes of all cores. */
const ON_REQUEST: readonly Part[] = [
  { kinds: ['integration'], workers: 3 },
  { kinds: ['system'], workers: 3 },
  { kinds: ['docker'], workers: 1 },
  { kinds: ['mutation'], workers: 1 },
  {
    name: 'soak',
    kinds: ['simulation', 'integration', 'system'],
    workers: 1,
    // The files that read BACKSTOP_TEST_SOAK.
    files: [
      'packages/verdict/src/decide',
      'packages/verdict/src/incident',
      'packages/verdict/src/refund',
      'test/cli/archive.integration-test.ts',
      'test/e2e/every-provider.system-test.ts',
      'test/faults/bulkhead.system-test.ts',
      'test/simulation/simulation.slow-test.ts',
    ],
    env: { BACKSTOP_TEST_SOAK: 'yes' },
  },
]

/**
 * With more failed files than this, about a tenth, the change is broken, and a second run would only take time. Fewer are repeated alone,
 * because a busy machine can delay a test beyond its deadline.
 */
const MOST_REPEATED = 15

/**
 * For a program beside another one: it gives way, and its output is shown at its end. At the lowest priority, 19, Vitest would not start within
 * its minute and a half on a busy machine.
 */
const BESIDE = { niceness: 10, isShownAtEnd: true }

/** The result of a part: its files, and whether an error outside of its files, or a run without tests, ended it. */
interface PartResult {
  part: Part
  files: TestedFile[]
  broke: boolean
}

const started = performance.now()
const [only, ...filters] = process.argv.slice(2)
const wanted = only === undefined ? FULL_RUN : [...FULL_RUN, ...ON_REQUEST].filter(part => nameOf(part) === only)
if (wanted.length === 0) {
  const names = [...FULL_RUN, ...ON_REQUEST].map(nameOf)
  process.stderr.write(`There is no part "${only}": give ${names.join(', ')}, or nothing for the first four\n`)
  process.exit(2)
}
const needsStack = ({ kinds }: Part) => kinds.some(kind => ['integration', 'system', 'servers', 'alone'].includes(kind))
const needsConsole = ({ kinds }: Part) => kinds.some(kind => ['system', 'servers', 'alone'].includes(kind))

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
  const starting = wanted.some(needsStack) ? startTestStack() : undefined
  const building = wanted.some(needsConsole) ? buildConsoleInChild() : undefined
  // The promises are awaited below. Until then a rejection must not be reported as unhandled.
  starting?.catch(() => {})
  building?.catch(() => {})
  const checking = only === undefined ? runCheck() : undefined
  const running: Promise<PartResult>[] = []
  for (const part of wanted) {
    if (needsStack(part)) {
      stack = await starting
      await building
    }
    if (part.kinds.includes('alone')) await Promise.all(running)
    running.push(runVitest(part))
    if (!isBeside(part)) await running.at(-1)
    if (ended.signal.aborted) break
  }
  const checked = (await checking) ?? true
  const results = await repeatFailed(await Promise.all(running))
  const passed = results.reduce((sum, { files }) => sum + files.reduce((passed, file) => passed + file.passed, 0), 0)
  const failures = [...(checked ? [] : ['npm run check']), ...results.flatMap(failuresOf)]
  if (failures.length > 0) process.stdout.write(`\nFailed:\n${failures.map(line => `  ${line}\n`).join('')}`)
  const seconds = Math.round((performance.now() - started) / 1000)
  process.stdout.write(`\n${failures.length === 0 ? 'All is well' : 'Something failed'} after ${seconds} s\n`)
  process.stdout.write(`${passed} passed, ${failures.length} failed\n`)
  return failures.length === 0 && passed > 0 && !ended.signal.aborted ? 0 : 1
}

/**
 * Runs the failed files once more, one after another, and says which of them pass now. The simulation is not repeated: on a busy machine the
 * repeat would run fewer seeds, and could miss the one that was wrong.
 */
async function repeatFailed(ran: PartResult[]): Promise<PartResult[]> {
  const failedFiles = ran.flatMap(({ files }) => files.filter(hasFailed))
  if (failedFiles.length > MOST_REPEATED || ended.signal.aborted) return ran
  const results: PartResult[] = []
  for (const result of ran) {
    const failed = result.part.kinds.includes('simulation') ? [] : result.files.filter(hasFailed)
    if (failed.length === 0) {
      results.push(result)
      continue
    }
    const names = failed.map(file => relative(ROOT, file.path))
    process.stdout.write(`\n── ${nameOf(result.part)} tests again, alone: ${names.join(', ')}\n`)
    const again = await runVitest(result.part, names)
    results.push({ ...result, files: withRepeated(result.files, again.files), broke: result.broke || again.broke })
    const passed = again.files.filter(file => !hasFailed(file)).map(file => relative(ROOT, file.path))
    if (passed.length > 0) process.stdout.write(`Passed only when repeated alone: ${passed.join(', ')}\n`)
  }
  return results
}

/** A line for each failure of a part. */
function failuresOf({ part, files, broke }: PartResult): string[] {
  const lines = files.flatMap(file =>
    file.failures.map(({ test, error }) => `${relative(ROOT, file.path)}: ${test === null ? '' : `${test}: `}${error}`),
  )
  return broke && lines.length === 0
    ? [`${nameOf(part)} tests: an error outside of the tests, or no test; see the output above`]
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

/** Whether the static checks pass. They run beside the unit tests, because the type checker ends on one core. */
async function runCheck(): Promise<boolean> {
  return (await run([join(ROOT, 'scripts/check.ts')], {}, BESIDE)) === 0
}

function isBeside({ beside }: Part): boolean {
  return only === undefined && beside !== undefined
}

/**
 * Runs a part.
 * @param alone paths of the only files to run, one after another
 */
async function runVitest(part: Part, alone?: readonly string[]): Promise<PartResult> {
  const name = nameOf(part)
  if (alone === undefined) process.stdout.write(`\n── ${name} tests${isBeside(part) ? ' begin beside the next' : ''}\n`)
  const report = join(scratch, alone === undefined ? `${name}.json` : `${name}-again.json`)
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
  const kinds = part.kinds.flatMap(kind => ['--project', kind])
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const workers = `--maxWorkers=${alone === undefined ? part.workers : 1}`
  const chosen = alone ?? [...(part.files ?? []), ...filters]
  const env = { ...stackEnvironment(), ...part.env, ...(isBeside(part) ? part.beside : {}) }
  const code = await run([vitest, 'run', ...kinds, workers, ...reporters, ...chosen], env, isBeside(part) ? BESIDE : {})
  const files = readReport(report) ?? []
  const passed = files.some(file => file.passed > 0)
  // A run without a passed test, or with an error outside of its files, has failed too.
  return { part, files, broke: !files.some(hasFailed) && (code !== 0 || !passed) }
}

/** The name of a part for `npm test -- <name>`. */
function nameOf({ name, kinds }: Part): string {
  return name ?? kinds.join('+')
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

function run(
  args: string[],
  env: Record<string, string>,
  { niceness, isShownAtEnd = false }: Partial<typeof BESIDE> = {},
): Promise<number> {
  return new Promise(resolve => {
    const output = isShownAtEnd ? 'pipe' : 'inherit'
    const stdio: StdioOptions = ['inherit', output, output]
    const child = spawn(process.execPath, args, { cwd: ROOT, env: { ...process.env, ...env }, stdio })
    if (niceness !== undefined && child.pid !== undefined) setPriority(child.pid, niceness)
    const chunks: Buffer[] = []
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => chunks.push(chunk))
    const stop = () => child.kill('SIGTERM')
    ended.signal.addEventListener('abort', stop, { once: true })
    child.once('close', code => {
      ended.signal.removeEventListener('abort', stop)
      process.stdout.write(Buffer.concat(chunks))
      resolve(code ?? 1)
    })
  })
}
