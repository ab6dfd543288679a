/** One instance of a service as a process of its own: start, readiness, signals, log, restart. */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { endProcess, identify, type ProcessIdentity } from '@backstop/stack'
import { describeExit } from './restart-policy.ts'
import type { ServiceName } from './service-environment.ts'
import { tellingLines } from './telling-lines.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const END_WITH_PARENT = new URL('./end-with-parent.ts', import.meta.url).href

export interface ServiceProcessOptions {
  service: ServiceName
  /** Tells several instances of one service apart in logs and messages. */
  name: string
  /** The whole environment of the process. */
  env: Readonly<Record<string, string | undefined>>
  logPath: string
  opsPort: number
  /** Where it serves others; left out for a service that serves nobody. */
  mainPort?: number
  /** Called as soon as a process is there. */
  spawned(process: ServiceProcess): void
}

/** How a process of the service ended. */
export interface ProcessEnd {
  code: number | null
  signal: NodeJS.Signals | null
  /** Nobody asked for it by kill(), restart() or stop(). */
  unasked: boolean
}

export interface ServiceProcess {
  readonly name: string
  readonly service: ServiceName
  readonly opsUrl: string
  /** Where it serves others, if it does. */
  readonly mainUrl: string | undefined
  readonly logPath: string
  /** Of the present process, or of the last one. */
  readonly pid: number | undefined
  readonly identity: ProcessIdentity | undefined
  /** When the present process ends. */
  readonly exited: Promise<ProcessEnd>
  /** Calls back at each end of a process that nobody asked for. */
  onUnaskedEnd(listener: (end: ProcessEnd) => void): void
  /** Starts it. Resolves at once; see untilReady. */
  start(extraEnv?: Record<string, string>): void
  /**
   * Resolves when /readyz answers 200.
   * @throws Error when the process ends before, or after `withinMs`; with the end of its log
   */
  untilReady(withinMs?: number): Promise<void>
  /** Sends a signal to the process itself. */
  kill(signal: NodeJS.Signals): void
  /**
   * Ends the process if it is still there and starts it on the same ports; resolves when it is ready.
   * @param extraEnv for this one process (CRASH_AT, for one): the next restart knows nothing of it
   */
  restart(extraEnv?: Record<string, string>): Promise<void>
  /** SIGTERM, then SIGKILL after `graceMs`; resolves when it is gone. */
  stop(graceMs?: number): Promise<void>
  /** What its log holds of warnings and errors since the present process began: the last of them, and where the log is. */
  lastWords(count?: number): string[]
}

const READY_WITHIN_MS = 60_000
const STOP_GRACE_MS = 8_000
/** A log that grew beyond this is put aside as `.1` when the service starts. */
const LARGE_LOG_BYTES = 20 * 1_048_576

/** A service that is not started yet. */
export function createServiceProcess(options: ServiceProcessOptions): ServiceProcess {
  const { service, name, logPath, opsPort } = options
  const listeners = new Set<(end: ProcessEnd) => void>()
  const opsUrl = `http://127.0.0.1:${opsPort}`
  let child: ChildProcess | undefined
  let identity: ProcessIdentity | undefined
  let asked = false
  let logBeginsAt = 0
  let exited: Promise<ProcessEnd> = Promise.resolve({ code: null, signal: null, unasked: false })

  function start(extraEnv: Record<string, string> = {}): void {
    asked = false
    const log = openLog(logPath)
    logBeginsAt = fstatSync(log).size
    // A group of its own: a Ctrl-C on the terminal reaches the launcher alone, which then stops all in order.
    const started = spawn(process.execPath, ['--import', END_WITH_PARENT, `services/${service}/src/main.ts`], {
      cwd: ROOT,
      env: { ...options.env, ...extraEnv },
      stdio: ['ignore', log, log, 'ipc'],
      detached: true,
    })
    closeSync(log)
    // Nobody talks on it; it only tells the service when this process is gone.
    started.channel?.unref()
    child = started
    identity = started.pid === undefined ? undefined : identify(started.pid)
    exited = new Promise(resolve => {
      started.once('error', () => resolve({ code: 127, signal: null, unasked: true }))
      started.once('exit', (code, signal) => resolve({ code, signal, unasked: !asked }))
    })
    options.spawned(self)
    void exited.then(end => {
      if (end.unasked) for (const listener of listeners) listener(end)
    })
  }

  function hasEnded(): boolean {
    return child === undefined || child.exitCode !== null || child.signalCode !== null
  }

  function lastWords(count = 15): string[] {
    const words = tellingLines(readFrom(logPath, logBeginsAt).split('\n'), count)
    return [...words, `Its log: ${logPath}`].map(line => `    ${line}`)
  }

  async function untilReady(withinMs = READY_WITHIN_MS): Promise<void> {
    const deadline = performance.now() + withinMs
    let answer = 'no answer'
    while (performance.now() < deadline) {
      if (hasEnded()) {
        const end = describeExit(await exited)
        throw new Error(`${name} ${end} before it was ready\n${lastWords().join('\n')}`)
      }
      const ready = await askReady(opsUrl)
      if (ready === undefined) return
      answer = ready
      await sleep(50)
    }
    throw new Error(`${name} was not ready after ${withinMs / 1000} s: ${answer}\n${lastWords().join('\n')}`)
  }

  async function stop(graceMs = STOP_GRACE_MS): Promise<void> {
    asked = true
    if (hasEnded() || identity === undefined) return
    await endProcess(identity, graceMs)
    await exited
  }

  const self: ServiceProcess = {
    name,
    service,
    opsUrl,
    mainUrl: options.mainPort === undefined ? undefined : `http://127.0.0.1:${options.mainPort}`,
    logPath,
    get pid() {
      return child?.pid
    },
    get identity() {
      return identity
    },
    get exited() {
      return exited
    },
    onUnaskedEnd: listener => void listeners.add(listener),
    start,
    untilReady,
    kill(signal) {
      asked = true
      child?.kill(signal)
    },
    async restart(extraEnv) {
      await stop()
      start(extraEnv)
      await untilReady()
    },
    stop,
    lastWords,
  }
  return self
}

/** Why the service is not ready, or undefined. */
async function askReady(opsUrl: string): Promise<string | undefined> {
  try {
    const response = await fetch(`${opsUrl}/readyz`, { signal: AbortSignal.timeout(2_000) })
    const text = await response.text()
    return response.status === 200 ? undefined : text.trim()
  } catch (error) {
    return error instanceof Error && error.name === 'TimeoutError' ? 'readyz does not answer' : 'not listening yet'
  }
}

function openLog(path: string): number {
  mkdirSync(dirname(path), { recursive: true })
  try {
    if (statSync(path).size > LARGE_LOG_BYTES) renameSync(path, `${path}.1`)
  } catch {
    // No log yet.
  }
  return openSync(path, 'a', 0o600)
}

/** What a file holds from a position on; nothing when it is not there. */
function readFrom(path: string, position: number): string {
  try {
    return readFileSync(path).subarray(position).toString('utf8')
  } catch {
    return ''
  }
}
