/**
 * `npm run check` runs all static checks, also after one has failed, so that one run shows all errors. Each failed check names
 * the command that fixes its errors or runs only this check.
 */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

interface Check {
  name: string
  /** A program of node_modules/.bin. */
  command: string
  args: string[]
  /** The command that fixes the errors, or that runs only this check if a person must fix them. */
  remedy: string
}

/**
 * With one checker, because each of several checks the shared types again: four took three times the processor time on two cores. A build
 * machine has no use for the information of an incremental check, which takes half as long again to write.
 */
const TYPES = ['--checkers', '1', ...(process.env.CI === undefined ? [] : ['--incremental', 'false'])]

const CHECKS: readonly Check[] = [
  { name: 'types', command: 'tsc', args: ['-p', '.', ...TYPES], remedy: 'npx tsc -p .' },
  {
    name: 'types of the console',
    command: 'tsc',
    args: ['-p', 'packages/console', ...TYPES],
    remedy: 'npx tsc -p packages/console',
  },
  {
    name: 'lint and format',
    command: 'biome',
    args: ['check', '--error-on-warnings', '.'],
    remedy: 'npx biome check --write .   (what is left after it needs a person)',
  },
  {
    name: 'unused code and dependencies',
    command: 'knip',
    args: ['--no-progress', '--no-config-hints'],
    remedy: 'npx knip --fix   (removes unused exports and dependencies; look at the diff)',
  },
  {
    name: 'import direction and pure code',
    command: 'vitest',
    args: ['run', '--project', 'unit', 'test/architecture.test.ts'],
    remedy: 'npx vitest run --project unit test/architecture.test.ts',
  },
]

interface Outcome {
  check: Check
  passed: boolean
  output: string
  seconds: string
}

function runCheck(check: Check): Promise<Outcome> {
  const startedAt = performance.now()
  return new Promise(resolve => {
    const child = spawn(`${ROOT}node_modules/.bin/${check.command}`, check.args, {
      cwd: ROOT,
      // tsc is a Go program. It collects garbage less often with this, and takes a third of the processor time for twice the memory.
      env: { ...process.env, GOGC: '300', ...(process.stdout.isTTY ? { FORCE_COLOR: '1' } : { NO_COLOR: '1' }) },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const chunks: Buffer[] = []
    const end = (passed: boolean) => {
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
      resolve({ check, passed, output: Buffer.concat(chunks).toString('utf8').trim(), seconds })
    }
    child.stdout.on('data', chunk => chunks.push(chunk))
    child.stderr.on('data', chunk => chunks.push(chunk))
    child.once('error', error => {
      chunks.push(Buffer.from(error.message))
      end(false)
    })
    child.once('close', code => end(code === 0))
  })
}

function report({ check, passed, output, seconds }: Outcome): void {
  if (passed) console.log(`✓ ${check.name} (${seconds} s)`)
  else console.log(`\n${output}\n\n✗ ${check.name} (${seconds} s). To mend it:  ${check.remedy}\n`)
}

const outcomes = await Promise.all(
  CHECKS.map(async check => {
    const outcome = await runCheck(check)
    report(outcome)
    return outcome
  }),
)
process.exitCode = outcomes.every(outcome => outcome.passed) ? 0 : 1
