import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stopRecordedParts } from '../src/embedded-stack.ts'
import { type PartName, type RunningStack, type StackOptions, silentProgress, startStack } from '../src/index.ts'
import { pollUntil } from '../src/poll.ts'
import { identify, isAlive, type ProcessIdentity } from '../src/process-identity.ts'

/**
 * The minimal environment for an embedded stack: these tests start their own stacks, whatever URLs the caller was
 * given.
 */
const embedded = {
  ...process.env,
  BACKSTOP_STACK: 'embedded',
  KAFKA_BROKERS: '',
  MONGO_URL: '',
  SCHEMA_REGISTRY_URL: '',
  SMTP_URL: '',
}

/** The resources that one test starts and must release. */
export interface Cleanup {
  dataDir(): string
  start(dataDir: string, options?: Partial<StackOptions>): Promise<RunningStack>
  /** Starts test/hold-stack.ts. Resolves with its pid and the pids of its parts. */
  hold(
    dataDir: string,
    parts: PartName[],
    ...flags: string[]
  ): Promise<{ launcher: ProcessIdentity; parts: Record<string, ProcessIdentity> }>
  child(child: ChildProcess): ChildProcess
  all(): Promise<void>
}

export function createCleanup(): Cleanup {
  const folders: string[] = []
  const children: ChildProcess[] = []
  const child = (started: ChildProcess) => {
    children.push(started)
    return started
  }
  return {
    child,
    dataDir() {
      const folder = mkdtempSync(join(tmpdir(), 'backstop-stack-'))
      folders.push(folder)
      return folder
    },
    // `endWithProcess`: if this test process is killed, its parts end, too.
    start: (dataDir, options = {}) =>
      startStack({ dataDir, log: silentProgress, env: embedded, endWithProcess: true, ...options }),
    async hold(dataDir, parts, ...flags) {
      const program = fileURLToPath(new URL('./hold-stack.ts', import.meta.url))
      const launcher = child(
        spawn(process.execPath, [program, dataDir, parts.join(','), ...flags], {
          stdio: ['ignore', 'pipe', 'inherit'],
        }),
      )
      const [line] = (await once(launcher.stdout!, 'data')) as [Buffer]
      const pids = JSON.parse(String(line)) as Record<string, number>
      return {
        launcher: identify(launcher.pid!)!,
        parts: Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, identify(pid)!])),
      }
    },
    async all() {
      for (const started of children.splice(0)) started.kill('SIGKILL')
      for (const folder of folders.splice(0)) {
        await stopRecordedParts(folder)
        rmSync(folder, { recursive: true, force: true })
      }
    },
  }
}

/** True if the process ended within `timeoutMs`. */
export async function endsWithin(identity: ProcessIdentity, timeoutMs: number): Promise<boolean> {
  return (await pollUntil(() => (isAlive(identity) ? undefined : true), { timeoutMs })) === true
}
