/** Runs one instance of a service as a process: start, readiness, signals, log and restart. */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { STARTED as StartedMessage } from '@backstop/kit/service'
import { endProcess, identify, isPortFree, type ProcessIdentity } from '@backstop/stack'
import { failureLines } from './failure-lines.ts'
import { describeExit } from './restart-policy.ts'
import type { ServiceName } from './service-environment.ts'
import { PortInUseFault, StartFault } from './start-fault.ts'

/** Only its type is imported, because the module would take 50 MB of the launcher's memory. */
const STARTED: typeof StartedMessage = 'started'
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** The file for `node --import` that ends a child process with this one. */
export const END_WITH_PARENT = new URL('./end-with-parent.ts', import.meta.url).href

export interface ServiceProcessOptions {
  service: ServiceName
  /** The name of this instance in logs and messages. */
  name: string
  /** The whole environment of the process. */
  env: Readonly<Record<string, string | undefined>>
  logPath: string
  opsPort: number
  /** The port for clients; absent for a service without clients. */
  mainPort?: number
  /** Called as soon as the process exists, also at restarts. */
  spawned(process: ServiceProcess): void
  /** The folder of the code at the next start; this checkout by default. */
  codeFolder?: () => string
}

/** How a process of the service ended. */
interface ProcessEnd {
  code: number | null
  signal: NodeJS.Signals | null
  /** True if the process ended without kill(), restart() or stop(). */
  isUnexpected: boolean
  /** The port on which the process could not listen, because another process uses it. */
  portInUse: number | undefined
}

export type Readiness =
  | { kind: 'ready' }
  /** The process ended before it was ready. */
  | { kind: 'ended'; end: ProcessEnd }
  /** The process runs, but was not ready in time. */
  | { kind: 'late'; afterMs: number; lastAnswer: string }

export interface ServiceProcess {
  readonly name: string
  readonly service: ServiceName
  readonly opsUrl: string
  /** The base URL for clients; undefined for a service without clients. */
  readonly mainUrl: string | undefined
  readonly logPath: string
  /** The process id of the current process, or of the last process. */
  readonly pid: number | undefined
  readonly identity: ProcessIdentity | undefined
  /** Resolves when the current process ends. */
  readonly exited: Promise<ProcessEnd>
  /** True if stop() or kill() was called since the last start(). */
  readonly isStopRequested: boolean
  /**
   * Starts the process and returns at once; see awaitReady.
   * @param extraEnv variables only for this process
   */
  start(extraEnv?: Record<string, string>): void
  /** Waits until this process answers 200 to /readyz. An answer of another process on its port is ignored. */
  awaitReady(withinMs?: number): Promise<Readiness>
  /** Waits like awaitReady, and throws if the process is not ready. @throws StartFault with the last log lines */
  untilReady(withinMs?: number): Promise<void>
  /** Sends a signal to the process itself. */
  kill(signal: NodeJS.Signals): void
  /** Ends the process if it runs, and starts it on the same ports. Resolves when it is ready. */
  restart(): Promise<void>
  /** Sends SIGTERM, and SIGKILL after `graceMs`. Resolves when the process has ended. */
  stop(graceMs?: number): Promise<void>
  /** The last warnings and errors that the current process logged, and the path of the log. */
  lastLogLines(count?: number): string[]
}

/** A usual machine needs seconds. */
const READY_WITHIN_MS = 180_000
const STOP_GRACE_MS = 8_000
/** A larger log is renamed to `.1` when the service starts. */
const LARGE_LOG_BYTES = 20 * 1_048_576

/** Creates the process of a service without starting it. */
export function createServiceProcess(options: ServiceProcessOptions): ServiceProcess {
  const { service, name, logPath, opsPort, mainPort } = options
  const ports = mainPort === undefined ? [opsPort] : [opsPort, mainPort]
  const opsUrl = `http://127.0.0.1:${opsPort}`
  let child: ChildProcess | undefined
  let identity: ProcessIdentity | undefined
  let isStopRequested = false
  let isListening = false
  let logBeginsAt = 0
  let exited: Promise<ProcessEnd> = Promise.resolve({
    code: null,
    signal: null,
    isUnexpected: false,
    portInUse: undefined,
  })

  function start(extraEnv: Record<string, string> = {}): void {
    isStopRequested = false
    isListening = false
    const log = openLog(logPath)
    logBeginsAt = fstatSync(log).size
    // The service has its own process group, so that Ctrl-C reaches only the launcher, which stops everything in order.
    const started = spawn(process.execPath, ['--import', END_WITH_PARENT, `services/${service}/src/main.ts`], {
      cwd: options.codeFolder?.() ?? ROOT,
      env: { ...options.env, ...extraEnv },
      stdio: ['ignore', log, log, 'ipc'],
      detached: true,
    })
    closeSync(log)
    started.on('message', message => {
      if (message === STARTED && started === child) isListening = true
    })
    started.channel?.unref()
    child = started
    identity = started.pid === undefined ? undefined : identify(started.pid)
    exited = awaitExit(started)
    options.spawned(self)
  }

  async function awaitExit(started: ChildProcess): Promise<ProcessEnd> {
    const { code, signal } = await new Promise<Pick<ProcessEnd, 'code' | 'signal'>>(resolve => {
      started.once('error', () => resolve({ code: 127, signal: null }))
      started.once('exit', (code, signal) => resolve({ code, signal }))
    })
    const isUnexpected = !isStopRequested
    return {
      code,
      signal,
      isUnexpected,
      portInUse: isUnexpected && !isListening ? await findPortInUse(ports) : undefined,
    }
  }

  function hasEnded(): boolean {
    return child === undefined || child.exitCode !== null || child.signalCode !== null
  }

  function lastLogLines(count = 15): string[] {
    const lines = failureLines(readFrom(logPath, logBeginsAt).split('\n'), count)
    return [...lines, `Its log: ${logPath}`].map(line => `    ${line}`)
  }

  async function awaitReady(withinMs = READY_WITHIN_MS): Promise<Readiness> {
    const deadline = performance.now() + withinMs
    let lastAnswer = 'it does not listen yet'
    while (performance.now() < deadline) {
      if (isListening) lastAnswer = (await findUnreadyReason(opsUrl)) ?? ''
      // Checked after the answer, because another process may have taken the port of an ended process and given the answer.
      if (hasEnded()) return { kind: 'ended', end: await exited }
      if (lastAnswer === '') return { kind: 'ready' }
      await sleep(50)
    }
    return { kind: 'late', afterMs: withinMs, lastAnswer }
  }

  async function stop(graceMs = STOP_GRACE_MS): Promise<void> {
    isStopRequested = true
    if (hasEnded() || identity === undefined) return
    await endProcess(identity, graceMs)
    await exited
  }

  const self: ServiceProcess = {
    name,
    service,
    opsUrl,
    mainUrl: mainPort === undefined ? undefined : `http://127.0.0.1:${mainPort}`,
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
    get isStopRequested() {
      return isStopRequested
    },
    start,
    awaitReady,
    async untilReady(withinMs) {
      const readiness = await awaitReady(withinMs)
      if (readiness.kind !== 'ready') throw notReadyFault(self, readiness)
    },
    kill(signal) {
      isStopRequested = true
      child?.kill(signal)
    },
    async restart() {
      await stop()
      start()
      await self.untilReady()
    },
    stop,
    lastLogLines,
  }
  return self
}

/** The error for a service that is not ready. */
export function notReadyFault(
  { name, lastLogLines }: Pick<ServiceProcess, 'name' | 'lastLogLines'>,
  readiness: Exclude<Readiness, { kind: 'ready' }>,
): StartFault {
  if (readiness.kind === 'late') {
    const { afterMs, lastAnswer } = readiness
    return new StartFault(
      `${name} was not ready after ${afterMs / 1000} s: ${lastAnswer}\n${lastLogLines().join('\n')}`,
      '',
    )
  }
  const { portInUse } = readiness.end
  if (portInUse !== undefined) return new PortInUseFault(name, portInUse)
  return new StartFault(`${name} ${describeExit(readiness.end)} before it was ready\n${lastLogLines().join('\n')}`, '')
}

/** The first port that another process uses; undefined if all ports are free. Call it when the service has ended. */
async function findPortInUse(ports: readonly number[]): Promise<number | undefined> {
  for (const port of ports) if (!(await isPortFree(port))) return port
  return undefined
}

/** The reason why the service is not ready; undefined if it is ready. */
async function findUnreadyReason(opsUrl: string): Promise<string | undefined> {
  try {
    const response = await fetch(`${opsUrl}/readyz`, { signal: AbortSignal.timeout(2_000) })
    const text = await response.text()
    return response.status === 200 ? undefined : text.trim() || `/readyz answers ${response.status}`
  } catch {
    return '/readyz does not answer'
  }
}

function openLog(path: string): number {
  mkdirSync(dirname(path), { recursive: true })
  try {
    if (statSync(path).size > LARGE_LOG_BYTES) renameSync(path, `${path}.1`)
  } catch {
    // There is no log before the first start.
  }
  return openSync(path, 'a', 0o600)
}

/** The content of a file from a position on; empty if the file does not exist. */
function readFrom(path: string, position: number): string {
  try {
    return readFileSync(path).subarray(position).toString('utf8')
  } catch {
    return ''
  }
}
