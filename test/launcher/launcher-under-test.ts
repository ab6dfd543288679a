/** `npm start` as a process with its own data folder. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { until } from '@backstop/kit/test'
import type { ProcessIdentity } from '@backstop/stack'
import type { RunFile } from '../../scripts/start/run-file.ts'
import type { ServiceName } from '../../scripts/start/service-environment.ts'

/** As in package.json: young garbage is collected sooner, which saves 60 MB at the peak. */
const NODE_OPTIONS = ['--max-semi-space-size=2']
const START = fileURLToPath(new URL('../../scripts/start.ts', import.meta.url))

export interface LauncherUnderTest {
  readonly child: ChildProcess
  readonly dataDir: string
  /** The output of the launcher so far. */
  output(): string
  /** Resolves when the output matches. @throws Error if the launcher ends first, or after `withinMs` */
  prints(pattern: RegExp, withinMs?: number): Promise<void>
  /** Resolves when the launcher has recorded a process of this service. */
  service(name: ServiceName): Promise<ProcessIdentity>
  /** The content of run.json, which exists when all services are ready. */
  run(): RunFile
  /** Resolves with the exit code of the launcher. */
  readonly ended: Promise<number | null>
  /** Ends the launcher as Ctrl-C does. */
  stop(): Promise<void>
}

/** The longest start on a busy machine. On an idle one it takes a few seconds. */
const WITHIN_MS = 120_000

export function startLauncher(
  dataDir: string,
  env: Record<string, string | undefined>,
  ...options: string[]
): LauncherUnderTest {
  let output = ''
  const child = spawn(process.execPath, [...NODE_OPTIONS, START, '--data', dataDir, ...options], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk))
  const ended = new Promise<number | null>(resolve => child.once('close', resolve))
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  const readJson = <T>(name: string) => JSON.parse(readFileSync(join(dataDir, name), 'utf8')) as T

  /** Polls `find` until it returns a value. @throws Error if the launcher ends first, or after `withinMs` */
  async function waitFor<T>(what: string, find: () => T | undefined, withinMs = WITHIN_MS): Promise<T> {
    const found = await until(what, () => find() ?? (hasEnded() && 'ended'), {
      timeoutMs: withinMs,
      seen: () => output,
    })
    if (found === 'ended') throw new Error(`The launcher ended before ${what}: ${output}`)
    return found as T
  }

  return {
    child,
    dataDir,
    ended,
    output: () => output,
    async prints(pattern, withinMs) {
      await waitFor(`it printed ${pattern}`, () => pattern.test(output) || undefined, withinMs)
    },
    service: name =>
      waitFor(`it recorded a process of ${name}`, () => {
        if (!existsSync(join(dataDir, 'launcher.json'))) return undefined
        return readJson<{ services: Record<string, ProcessIdentity> }>('launcher.json').services[name]
      }),
    run: () => readJson('run.json'),
    async stop() {
      child.kill('SIGINT')
      await ended
    },
  }
}
