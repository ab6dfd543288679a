import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { StackRecordFile } from './part-records.ts'
import { endProcess } from './process-end.ts'
import {
  findProcessesWithArgument,
  identify,
  isAlive,
  type ProcessIdentity,
  signalProcess,
} from './process-identity.ts'
import { type PartHandle, type PartName, PortInUseError, StackError } from './stack-contract.ts'

/** How to run one part. Created by parts/<name>.ts. */
export interface PartProgram {
  name: PartName
  /** The name in messages, e.g. `MongoDB 6.0.5`. */
  title: string
  /** The absolute path of the executable. */
  program: string
  args: string[]
  /** An argument that no other process has: a path inside the data folder. */
  marker: string
  cwd: string
  /** Configuration files: path → content, written before every start. */
  files: Record<string, string>
  /** Creates and formats folders. Runs before every start, after `files` are written. */
  prepare(): Promise<void>
  /** Checks once: resolves if the part is ready, rejects with the reason otherwise. Must have a timeout. */
  checkReady(): Promise<void>
  readyWithinMs: number
  /** For structured logs: returns the readable form of a line, or undefined to drop the line. */
  explainLogLine?(line: string): string | undefined
}

/** How long a start retries while another process uses the port, in milliseconds. */
const PORT_RELEASE_MS = 10_000

/** A part that runs as a process on this machine. It outlives its launcher and is recorded in parts.json. */
export class EmbeddedPart implements PartHandle {
  adopted = false
  readonly #program: PartProgram
  readonly #records: StackRecordFile
  readonly #logDir: string
  readonly #owner: ProcessIdentity | null
  #identity: ProcessIdentity | undefined

  constructor(program: PartProgram, records: StackRecordFile, logDir: string, owner: ProcessIdentity | null) {
    this.#program = program
    this.#records = records
    this.#logDir = logDir
    this.#owner = owner
  }

  get pid(): number | undefined {
    return this.#identity?.pid
  }

  get name(): PartName {
    return this.#program.name
  }

  get title(): string {
    return this.#program.title
  }

  get logPath(): string {
    return join(this.#logDir, `${this.#program.name}.log`)
  }

  /**
   * Adopts the recorded process if it still runs with the current settings and answers.
   * @returns false if there is no such process; then no process of this part runs any more
   */
  async adopt(): Promise<boolean> {
    const recorded = this.#records.read().parts[this.name]
    const hasSameSettings = recorded?.fingerprint === fingerprintOf(this.#program)
    if (recorded !== undefined && hasSameSettings && isAlive(recorded) && (await this.#isReady())) {
      this.#identity = { pid: recorded.pid, startTime: recorded.startTime }
      this.adopted = true
      // If the owner is alive, it stays the owner: two concurrent starts in one data folder must not stop each other's
      // parts.
      if (recorded.owner !== null && !isAlive(recorded.owner)) this.#saveRecord(this.#identity)
      return true
    }
    if (recorded !== undefined) await endProcess(recorded)
    for (const orphan of findProcessesWithArgument(this.#program.marker)) await endProcess(orphan)
    this.#deleteRecord()
    return false
  }

  /** Starts the process and waits until it answers. */
  async start(): Promise<void> {
    for (const [path, content] of Object.entries(this.#program.files)) writeFileSync(path, content)
    await this.#program.prepare()
    const deadline = performance.now() + this.#program.readyWithinMs
    const lastRespawnAt = performance.now() + PORT_RELEASE_MS
    this.#spawn()
    let reason = 'it did not answer'
    while (performance.now() < deadline) {
      if (this.#identity !== undefined && !isAlive(this.#identity)) {
        // A stopped program may use its port for a moment after its end.
        if (!this.#isPortInUse() || performance.now() > lastRespawnAt) throw this.#failureWithLog('it ended by itself')
        await sleep(500)
        this.#spawn()
      }
      try {
        await this.#program.checkReady()
        if (this.#identity !== undefined && isAlive(this.#identity)) return
      } catch (error) {
        reason = error instanceof Error ? error.message : String(error)
      }
      await sleep(50)
    }
    throw this.#failureWithLog(`it was not ready within ${this.#program.readyWithinMs / 1000} s: ${reason}`)
  }

  kill(signal: NodeJS.Signals): void {
    if (this.#identity !== undefined) signalProcess(this.#identity, signal)
  }

  async stop(): Promise<void> {
    if (this.#identity === undefined) return
    await endProcess(this.#identity)
    this.#identity = undefined
    this.#deleteRecord()
  }

  async restart(): Promise<void> {
    await this.stop()
    await this.start()
  }

  /** True if this process, and no other living process, stops the part. */
  isOwned(): boolean {
    const owner = this.#records.read().parts[this.name]?.owner
    return this.#owner !== null && owner?.pid === this.#owner.pid && owner.startTime === this.#owner.startTime
  }

  #spawn(): void {
    const { program, args, cwd } = this.#program
    mkdirSync(this.#logDir, { recursive: true })
    mkdirSync(cwd, { recursive: true })
    keepPreviousLog(this.logPath)
    const log = openSync(this.logPath, 'w')
    try {
      // A separate process group and no pipe, so that neither Ctrl-C nor the end of this process ends the part.
      const child = spawn(program, args, { cwd, detached: true, stdio: ['ignore', log, log], env: partEnvironment() })
      child.on('error', () => {}) // an executable that cannot run has no pid, see below
      child.unref()
      const identity = child.pid === undefined ? undefined : identify(child.pid)
      if (identity === undefined) throw this.#failureWithLog(`${program} could not be run`)
      this.#identity = identity
      this.adopted = false
      this.#saveRecord(identity)
    } finally {
      closeSync(log)
    }
  }

  async #isReady(): Promise<boolean> {
    try {
      await this.#program.checkReady()
      return true
    } catch {
      return false
    }
  }

  #saveRecord(identity: ProcessIdentity): void {
    this.#records.change(record => {
      const { program } = this.#program
      record.parts[this.name] = { ...identity, program, fingerprint: fingerprintOf(this.#program), owner: this.#owner }
    })
  }

  #deleteRecord(): void {
    this.#records.change(record => {
      delete record.parts[this.name]
    })
  }

  #isPortInUse(): boolean {
    return /address already in use|EADDRINUSE|Failed to bind|seems to be in use by another process/i.test(
      readTail(this.logPath, 60).join('\n'),
    )
  }

  lastLogLines(count = 8): string[] {
    const { explainLogLine } = this.#program
    const explained = explainLogLine === undefined ? [] : readTail(this.logPath, count, explainLogLine)
    return explained.length > 0 ? explained : readTail(this.logPath, count)
  }

  #failureWithLog(what: string): StackError {
    // The remedy moves the data of all parts together, because Kafka's messages contain ids of the registry, and
    // documents in MongoDB refer to Kafka's messages.
    const stackDir = dirname(this.#logDir)
    const message = `${this.#program.title} did not start: ${what}. The end of ${this.logPath}:\n${this.lastLogLines(15).join('\n')}`
    if (this.#isPortInUse())
      return new PortInUseError(message, 'Stop the process that listens on its port, then start again')
    return new StackError(
      message,
      `Start again. If it fails again, set its data aside and start with none:  mv '${stackDir}' '${stackDir}.aside'`,
    )
  }
}

/** The last lines of a log, indented and cut to a readable width, without the lines that `explain` drops. */
function readTail(path: string, count: number, explain: (line: string) => string | undefined = line => line): string[] {
  if (!existsSync(path)) return ['    (no log)']
  return readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map(explain)
    .filter(line => line !== undefined)
    .slice(-count)
    .map(line => `    ${line.slice(0, 300)}`)
}

/** A hash of the part's settings and version. */
function fingerprintOf({ program, args, files }: PartProgram): string {
  return createHash('sha256')
    .update(JSON.stringify([program, args, files]))
    .digest('hex')
}

/** Keeps the log of the previous process, because it explains why the part had to be started again. */
function keepPreviousLog(path: string): void {
  try {
    renameSync(path, path.replace(/\.log$/, '.previous.log'))
  } catch {
    // first start
  }
}

/**
 * The environment of a part, without the caller's settings (JAVA_TOOL_OPTIONS, NODE_OPTIONS, MAILDEV_…) and secrets.
 */
function partEnvironment(): NodeJS.ProcessEnv {
  const { PATH, HOME, LANG, TZ } = process.env
  return Object.fromEntries(Object.entries({ PATH, HOME, LANG, TZ }).filter(([, value]) => value !== undefined))
}
