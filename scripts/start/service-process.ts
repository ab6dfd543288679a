/** One instance of a service as a process: start, readiness, signals, log, restart. */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { STARTED } from '@backstop/kit'
import { endProcess, identify, isPortFree, type ProcessIdentity } from '@backstop/stack'
import { tellingLines } from './failure-lines.ts'
import { describeExit } from './restart-policy.ts'
import type { ServiceName } from './service-environment.ts'
import { StartFault } from './start-fault.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const END_WITH_PARENT = new URL('./end-with-parent.ts', import.meta.url).href

export interface ServiceProcessOptions {
  service: ServiceName
  /** Names this instance of the service in logs and messages. */
  name: string
  /** The whole environment of the process. */
  env: Readonly<Record<string, string | undefined>>
  logPath: string
  opsPort: number
  /** The port for its clients; absent for a service without any. */
  mainPort?: number
  /** Called as soon as the process exists. */
  spawned(process: ServiceProcess): void
}

/** How a process of the service ended. */
export interface ProcessEnd {
  code: number | null
  signal: NodeJS.Signals | null
  /** Nobody asked for it by kill(), restart() or stop(). */
  unasked: boolean
  /** The port on which it could not listen, because another process does. */
  portInUse: number | undefined
}

export type Readiness =
  | { kind: 'ready' }
  /** The process ended before it was ready. */
  | { kind: 'ended'; end: ProcessEnd }
  /** It runs, but was not ready in time. */
  | { kind: 'late'; afterMs: number; lastAnswer: string }

export interface ServiceProcess {
  readonly name: string
  readonly service: ServiceName
  readonly opsUrl: string
  /** Base URL for its clients, if it has any. */
  readonly mainUrl: string | undefined
  readonly logPath: string
  /** Of the current process, or of the last one. */
  readonly pid: number | undefined
  readonly identity: ProcessIdentity | undefined
  /** Resolves when the current process ends. */
  readonly exited: Promise<ProcessEnd>
  /** Whether stop() or kill() was called since the last start(). */
  readonly isStopAsked: boolean
  /** Starts it and returns at once; see awaitReady. */
  start(extraEnv?: Record<string, string>): void
  /** Waits until this process, and no other one on its port, answers 200 to /readyz. */
  awaitReady(withinMs?: number): Promise<Readiness>
  /** The same for callers that cannot continue without it. @throws StartFault with the end of its log */
  untilReady(withinMs?: number): Promise<void>
  /** Sends a signal to the process itself. */
  kill(signal: NodeJS.Signals): void
  /**
   * Ends the process if it still runs and starts it on the same ports; resolves when it is ready.
   * @param extraEnv for this one process (CRASH_AT, for example); the next restart does not have it
   */
  restart(extraEnv?: Record<string, string>): Promise<void>
  /** SIGTERM, then SIGKILL after `graceMs`; resolves when the process has ended. */
  stop(graceMs?: number): Promise<void>
  /** The last warnings and errors that the current process logged, and the path of the log. */
  lastWords(count?: number): string[]
}

const READY_WITHIN_MS = 60_000
const STOP_GRACE_MS = 8_000
/** A larger log is renamed to `.1` when the service starts. */
const LARGE_LOG_BYTES = 20 * 1_048_576

/** A service that is not started yet. */
export function createServiceProcess(options: ServiceProcessOptions): ServiceProcess {
  const { service, name, logPath, opsPort, mainPort } = options
  const ports = mainPort === undefined ? [opsPort] : [opsPort, mainPort]
  const opsUrl = `http://127.0.0.1:${opsPort}`
  let child: ChildProcess | undefined
  let identity: ProcessIdentity | undefined
  let isStopAsked = false
  let isListening = false
  let logBeginsAt = 0
  let exited: Promise<ProcessEnd> = Promise.resolve({
    code: null,
    signal: null,
    unasked: false,
    portInUse: undefined,
  })

  function start(extraEnv: Record<string, string> = {}): void {
    isStopAsked = false
    isListening = false
    const log = openLog(logPath)
    logBeginsAt = fstatSync(log).size
    // A process group of its own: Ctrl-C reaches the launcher alone, which then stops everything in order.
    const started = spawn(process.execPath, ['--import', END_WITH_PARENT, `services/${service}/src/main.ts`], {
      cwd: ROOT,
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
    const unasked = !isStopAsked
    return { code, signal, unasked, portInUse: unasked && !isListening ? await findPortInUse(ports) : undefined }
  }

  function hasEnded(): boolean {
    return child === undefined || child.exitCode !== null || child.signalCode !== null
  }

  function lastWords(count = 15): string[] {
    const words = tellingLines(readFrom(logPath, logBeginsAt).split('\n'), count)
    return [...words, `Its log: ${logPath}`].map(line => `    ${line}`)
  }

  async function awaitReady(withinMs = READY_WITHIN_MS): Promise<Readiness> {
    const deadline = performance.now() + withinMs
    let lastAnswer = 'it does not listen yet'
    while (performance.now() < deadline) {
      if (isListening) lastAnswer = (await askReady(opsUrl)) ?? ''
      // Also after the answer: a process that has ended by now may have left its port to another one, which answered.
      if (hasEnded()) return { kind: 'ended', end: await exited }
      if (lastAnswer === '') return { kind: 'ready' }
      await sleep(50)
    }
    return { kind: 'late', afterMs: withinMs, lastAnswer }
  }

  async function stop(graceMs = STOP_GRACE_MS): Promise<void> {
    isStopAsked = true
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
    get isStopAsked() {
      return isStopAsked
    },
    start,
    awaitReady,
    async untilReady(withinMs) {
      const readiness = await awaitReady(withinMs)
      if (readiness.kind !== 'ready') throw notReadyFault(self, readiness)
    },
    kill(signal) {
      isStopAsked = true
      child?.kill(signal)
    },
    async restart(extraEnv) {
      await stop()
      start(extraEnv)
      await self.untilReady()
    },
    stop,
    lastWords,
  }
  return self
}

/** Why a start cannot continue without this service. */
export function notReadyFault(
  { name, lastWords }: Pick<ServiceProcess, 'name' | 'lastWords'>,
  readiness: Exclude<Readiness, { kind: 'ready' }>,
): StartFault {
  if (readiness.kind === 'late') {
    const { afterMs, lastAnswer } = readiness
    return new StartFault(
      `${name} was not ready after ${afterMs / 1000} s: ${lastAnswer}\n${lastWords().join('\n')}`,
      '',
    )
  }
  return new StartFault(`${name} ${describeExit(readiness.end)} before it was ready\n${lastWords().join('\n')}`, '')
}

/** The first of the ports on which nothing can listen now. The process that was to listen there has ended. */
async function findPortInUse(ports: readonly number[]): Promise<number | undefined> {
  for (const port of ports) if (!(await isPortFree(port))) return port
  return undefined
}

/** Why the service is not ready, or undefined. */
async function askReady(opsUrl: string): Promise<string | undefined> {
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
    // No log yet.
  }
  return openSync(path, 'a', 0o600)
}

/** The content of a file from a position on; empty when there is no such file. */
function readFrom(path: string, position: number): string {
  try {
    return readFileSync(path).subarray(position).toString('utf8')
  } catch {
    return ''
  }
}
