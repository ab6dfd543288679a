/**
 * `npm run mutation` changes the pure code in small ways (mutants) and counts the mutants that a test detects. It is not part of
 * `npm test`, because it takes one to two hours. It works on a copy, so that an interrupted run leaves no mutant in the tree.
 *
 *     npm run mutation                     every group
 *     npm run mutation -- ledger retry     only these
 *     npm run mutation -- decisions packages/verdict/src/explain/operation-match.ts     only this file of a group
 *     npm run mutation -- decisions --sample 0.2                                   only a fifth of the lines, the same in each
 * run
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type MutantResult, summarise } from './mutation/summary.ts'

const ROOT = resolve(import.meta.dirname, '..')
const REPORT = join(ROOT, '.backstop/mutation')
/** The share of mutants that the tests must detect. */
const WANTED_SCORE = 0.92
/** In lines. A sample consists of whole blocks, because a mutant is chosen only if the range contains all of it. */
const SAMPLED_BLOCK = 12

interface Group {
  /** Globs of the files to mutate, from the root. */
  readonly mutate: readonly string[]
  /** Globs of the tests, in passes. Each pass runs only the mutants that survived the previous pass, so fast tests are first. */
  readonly tests: readonly (readonly string[])[]
  /** True if top-level constants are mutated too. Each mutant of a constant runs all tests of the group, which is slow. */
  readonly includesConstants: boolean
}

const GROUPS: Readonly<Record<string, Group>> = {
  verification: {
    mutate: [
      'packages/providers/src/*/authenticate.ts',
      'packages/providers/src/{timestamped-signature,single-header}.ts',
    ],
    tests: [['packages/providers/src/**/*.test.ts']],
    includesConstants: true,
  },
  egress: {
    mutate: ['packages/kit/src/egress/{address-policy,url-policy,custom-headers}.ts'],
    tests: [['packages/kit/src/egress/{address-checks,address-policy,url-policy,custom-headers}.test.ts']],
    includesConstants: true,
  },
  retry: {
    mutate: [
      'packages/channels/src/answer/classify-answer.ts',
      'packages/channels/src/email/{addresses,combine-answers}.ts',
      'services/notifier/src/{delivery,retry,queue,health,incident-order,fan-out,dead-letters,replay,suppressed-addresses}/rules/*.ts',
    ],
    tests: [
      ['packages/channels/src/**/*.test.ts', 'services/notifier/src/*/rules/*.test.ts'],
      ['services/notifier/**/*.test.ts'],
    ],
    includesConstants: false,
  },
  ledger: {
    mutate: ['packages/ledger/src/rules/*.ts'],
    tests: [['packages/ledger/**/*.test.ts'], ['services/admin-api/**/*.test.ts']],
    includesConstants: false,
  },
  decisions: {
    mutate: [
      'packages/verdict/src/*/*.ts',
      'services/reconciler/src/*/rules/*.ts',
      'packages/providers/src/*/{identify,normalise,objects/*}.ts',
    ],
    tests: [
      ['packages/verdict/src/*/*.test.ts', 'packages/providers/src/*/{identify,normalise}.test.ts'],
      ['{services/reconciler,packages/verdict}/{src,test}/**/*.test.ts', 'packages/providers/**/*.test.ts'],
      ['packages/verdict/src/{decide,refund}/*.slow-test.ts'],
    ],
    includesConstants: false,
  },
}

const { positionals, values } = parseArgs({ allowPositionals: true, options: { sample: { type: 'string' } } })
const wanted = positionals.filter(argument => !argument.includes('/'))
const wantedFiles = positionals.filter(argument => argument.includes('/'))
/** The share of the lines that are mutated, from 0 to 1. */
const share = Number(values.sample ?? 1)
if (!(share > 0 && share <= 1)) {
  process.stderr.write('--sample takes a share of the lines, for example 0.2\n')
  process.exit(2)
}
const unknown = wanted.filter(name => GROUPS[name] === undefined)
if (unknown.length > 0) {
  process.stderr.write(`Unknown group ${unknown.join(', ')}: choose from ${Object.keys(GROUPS).join(', ')}\n`)
  process.exit(2)
}

const copy = mkdtempSync(join(tmpdir(), 'backstop-mutation-'))
try {
  process.exitCode = runGroups()
} finally {
  rmSync(copy, { recursive: true, force: true })
}

function runGroups(): number {
  copyTree()
  must('npm', ['ci', '--ignore-scripts', '--legacy-peer-deps'], join(copy, 'test/mutation'))
  mkdirSync(REPORT, { recursive: true })
  const names = wanted.length > 0 ? wanted : Object.keys(GROUPS)
  const results = names.flatMap(name => runGroup(name, GROUPS[name] as Group))
  const { text, score } = summarise(results)
  process.stdout.write(`\n${text}\nFull reports: ${REPORT}\n`)
  return score >= WANTED_SCORE ? 0 : 1
}

/** Copies the files that git knows, and node_modules as hard links, so that linked packages resolve inside the copy. */
function copyTree(): void {
  const listed = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], { cwd: ROOT })
  for (const file of listed.stdout.toString('utf8').split('\0').filter(Boolean)) {
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    cpSync(join(ROOT, file), join(copy, file))
  }
  must('cp', ['-al', join(ROOT, 'node_modules'), join(copy, 'node_modules')], ROOT)
}

/** Runs the passes of a group, each on the mutants that survived the previous pass. */
function runGroup(name: string, { mutate, tests, includesConstants }: Group): MutantResult[] {
  const results = new Map<string, ReportedMutant>()
  const files = globSync(wantedFiles.length > 0 ? wantedFiles : mutate, { cwd: ROOT }).filter(isSource)
  let left = share === 1 ? files : files.flatMap(sampledRanges)
  for (const [pass, globs] of tests.entries()) {
    if (left.length === 0) break
    const label = `${name}-${pass + 1}`
    process.stdout.write(`\n── ${label}: ${globs.join(', ')}\n`)
    for (const mutant of runPass(label, left, globs, includesConstants)) {
      // A range may contain smaller mutants that an earlier pass killed.
      const known = results.get(keyOf(mutant))
      if (known === undefined || isMissed(known)) results.set(keyOf(mutant), mutant)
    }
    left = [...results.values()].filter(isMissed).map(rangeOf)
  }
  return [...results.values()].map(({ location, ...mutant }) => ({ ...mutant, group: name, line: location.start.line }))
}

function isSource(file: string): boolean {
  return !/\.(test|slow-test|integration-test|mutation-test|contract)\.ts$/.test(file)
}

/** The blocks of a file that belong to the sample. A hash chooses them, so that each run of one commit mutates the same lines. */
function sampledRanges(file: string): string[] {
  const lines = readFileSync(join(ROOT, file), 'utf8').split('\n').length
  const starts = Array.from({ length: Math.ceil(lines / SAMPLED_BLOCK) }, (_, block) => 1 + block * SAMPLED_BLOCK)
  const chosen = starts.filter(start => {
    const hash = createHash('sha256').update(`${file}:${start}`).digest().readUInt32BE(0)
    return hash < share * 2 ** 32
  })
  return chosen.map(start => `${file}:${start}-${Math.min(start + SAMPLED_BLOCK - 1, lines)}`)
}

function runPass(
  label: string,
  mutate: readonly string[],
  tests: readonly string[],
  includesConstants: boolean,
): ReportedMutant[] {
  writeFileSync(join(copy, 'vitest.mutation.config.mjs'), vitestConfig(tests))
  const report = join(REPORT, `${label}.json`)
  const config = {
    packageManager: 'npm',
    testRunner: 'vitest',
    plugins: [join(copy, 'test/mutation/node_modules/@stryker-mutator/vitest-runner/dist/src/index.js')],
    vitest: { configFile: 'vitest.mutation.config.mjs', related: false },
    mutate,
    inPlace: true,
    coverageAnalysis: 'perTest',
    concurrency: 2,
    // A mutant with an endless loop is detected by this timeout. It is long, so that a slow machine does not reach it.
    timeoutMS: 30_000,
    // Strings are not mutated, because most are texts for people and the type checker detects wrong codes.
    mutator: { excludedMutations: ['StringLiteral'] },
    ignoreStatic: !includesConstants,
    reporters: ['progress-append-only', 'json'],
    jsonReporter: { fileName: report },
    tempDirName: join(copy, '.stryker-tmp'),
    disableTypeChecks: false,
    allowConsoleColors: false,
  }
  const configFile = join(copy, 'stryker.conf.json')
  writeFileSync(configFile, JSON.stringify(config))
  must(
    process.execPath,
    [join(copy, 'test/mutation/node_modules/@stryker-mutator/core/bin/stryker.js'), 'run', configFile],
    copy,
  )
  const { files } = JSON.parse(readFileSync(report, 'utf8')) as {
    files: Record<string, { mutants: Omit<ReportedMutant, 'file'>[] }>
  }
  return Object.entries(files).flatMap(([file, { mutants }]) => mutants.map(mutant => ({ ...mutant, file })))
}

function vitestConfig(tests: readonly string[]): string {
  const test = { include: tests, exclude: ['**/node_modules/**'], testTimeout: 30_000 }
  return `export default ${JSON.stringify({ test })}\n`
}

interface Position {
  readonly line: number
  readonly column: number
}

type ReportedMutant = Pick<MutantResult, 'file' | 'status' | 'mutatorName' | 'replacement'> & {
  readonly location: { readonly start: Position; readonly end: Position }
}

function isMissed({ status }: ReportedMutant): boolean {
  return status === 'Survived' || status === 'NoCoverage'
}

function keyOf({ file, location, mutatorName, replacement }: ReportedMutant): string {
  return JSON.stringify([file, location.start, location.end, mutatorName, replacement])
}

/** The position of a mutant for Stryker's `mutate` option. Its columns start at 0, those of the report at 1. */
function rangeOf({ file, location: { start, end } }: ReportedMutant): string {
  return `${file}:${start.line}:${start.column - 1}-${end.line}:${end.column - 1}`
}

function must(command: string, args: readonly string[], cwd: string): void {
  const { status } = spawnSync(command, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] })
  if (status !== 0) throw new Error(`${command} ${args.slice(0, 3).join(' ')} … ended with ${status}`)
}
