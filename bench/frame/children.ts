/** The processes of a benchmark: each reports by messages, and ends with the benchmark. */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'

export interface BenchChild {
  /** Returns the next message of the process. @throws Error if the process ends first, or if it takes longer */
  next<T>(withinMs: number): Promise<T>
  send(message: object): void
  /** Processor time that the process has used so far, in milliseconds. Its script must call `reportCpuTime`. */
  cpuMs(): Promise<number>
  /** Stops the process. Resolves when it has ended. */
  stop(): Promise<void>
}

const END_WITH_PARENT = new URL('../../scripts/start/end-with-parent.ts', import.meta.url).href

/**
 * Starts one of our scripts as a separate process.
 * @param logPath the file for its output
 */
export function startChild(script: URL, env: Record<string, string>, logPath: string): BenchChild {
  const log = openSync(logPath, 'a')
  const child = spawn(process.execPath, ['--import', END_WITH_PARENT, script.pathname], {
    env: { ...process.env, ...env },
    stdio: ['ignore', log, log, 'ipc'],
  })
  closeSync(log)
  const exited = new Promise<void>(resolve => child.once('exit', () => resolve()))
  const inbox = new Inbox(child, `${script.pathname} (its output: ${logPath})`)
  return {
    next: <T>(withinMs: number) => inbox.next(withinMs) as Promise<T>,
    send: message => void child.send(message),
    async cpuMs() {
      child.send({})
      return (await inbox.next(10_000)) as number
    },
    async stop() {
      child.kill('SIGTERM')
      await exited
    },
  }
}

/** Keeps messages until they are read. */
class Inbox {
  readonly #messages: unknown[] = []
  readonly #name: string
  #failure: Error | undefined
  #wake = () => {}

  constructor(child: ChildProcess, name: string) {
    this.#name = name
    child.on('message', message => {
      this.#messages.push(message)
      this.#wake()
    })
    child.once('exit', (code, signal) => {
      this.#failure = new Error(`${name} ended with ${signal ?? code}`)
      this.#wake()
    })
  }

  async next(withinMs: number): Promise<unknown> {
    const deadline = performance.now() + withinMs
    while (this.#messages.length === 0) {
      if (this.#failure !== undefined) throw this.#failure
      const remainingMs = deadline - performance.now()
      if (remainingMs <= 0) throw new Error(`${this.#name} said nothing for ${withinMs / 1_000} s`)
      await new Promise<void>(resolve => {
        const timer = setTimeout(resolve, remainingMs)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    return this.#messages.shift()
  }
}

/**
 * For a script that runs as a child process: answers requests for its processor time, and keeps the process alive until
 * it is stopped.
 */
export function reportCpuTime(): void {
  process.channel?.ref()
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send?.((user + system) / 1_000)
  })
}
