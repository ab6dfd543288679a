import type { Clock } from '@backstop/kit/clock'
import type { Command, Wire } from '@backstop/kit/simulated-mongo'
import type { Scheduler } from './scheduler.ts'

/** What happens to one command. */
export interface Fate {
  /** Milliseconds until the server has the command, and until the process has the answer. */
  readonly thereMs: number
  readonly backMs: number
  /** `refused`: the server never gets it. `answer_lost`: the server carries it out, and the connection breaks. */
  readonly kind: 'carried_out' | 'refused' | 'answer_lost' | 'killed_before' | 'killed_after'
}

export interface ProcessOptions {
  readonly name: string
  readonly scheduler: Scheduler
  /** Milliseconds by which the clock of the process is ahead. */
  readonly aheadMs: number
  readonly fateOf: (command: Command, process: SimulatedProcess) => Fate
  /** Told of every command that a server carried out. */
  readonly trace: (process: string, command: string) => void
}

/** One process of a service: its clock and its connections. A process that ended gets no answers, and its timers do not run. */
export class SimulatedProcess {
  readonly name: string
  readonly clock: Clock
  readonly wire: Wire
  /** It jumps when the clock of the host is set. */
  aheadMs: number
  readonly #options: ProcessOptions
  #isAlive = true
  #frozenUntilMs = 0
  readonly #onEnd: (() => void)[] = []

  constructor(options: ProcessOptions) {
    const { scheduler } = options
    this.aheadMs = options.aheadMs
    this.name = options.name
    this.#options = options
    this.clock = {
      now: () => scheduler.now + this.aheadMs,
      schedule: (delayMs, act) => this.#schedule(delayMs, act),
    }
    this.wire = {
      now: () => scheduler.now,
      call: (command, act) => this.#call(command, act),
      wait: (delayMs, subscribe) => this.#wait(delayMs, subscribe),
    }
  }

  get isAlive(): boolean {
    return this.#isAlive
  }

  get isFrozen(): boolean {
    return this.#frozenUntilMs > this.#options.scheduler.now
  }

  /** Ends the process as if by SIGKILL. */
  kill(): void {
    if (!this.#isAlive) return
    this.#isAlive = false
    for (const act of this.#onEnd) act()
  }

  onEnd(act: () => void): void {
    this.#onEnd.push(act)
  }

  /** Stops the process for a while, as SIGSTOP or a long garbage collection does. Its commands on the way reach their servers. */
  freeze(ms: number): void {
    this.#frozenUntilMs = Math.max(this.#frozenUntilMs, this.#options.scheduler.now + ms)
  }

  #schedule(delayMs: number, act: () => void): () => void {
    const { scheduler } = this.#options
    let cancel = () => {}
    const run = () => {
      if (!this.#isAlive) return
      const leftMs = this.#frozenUntilMs - scheduler.now
      if (leftMs > 0) cancel = scheduler.schedule(leftMs, run)
      else act()
    }
    cancel = scheduler.schedule(delayMs, run)
    return () => cancel()
  }

  /** Resolves in the process. Never, if the process ended. */
  #arrive(delayMs: number): Promise<void> {
    return new Promise(resolve => void this.#schedule(delayMs, resolve))
  }

  async #call<T>(command: Command, act: () => T | Promise<T>): Promise<T> {
    const { scheduler, fateOf, trace } = this.#options
    const fate = fateOf(command, this)
    if (fate.kind === 'killed_before') this.kill()
    if (!this.#isAlive) return new Promise<T>(() => {})
    await new Promise<void>(resolve => void scheduler.schedule(fate.thereMs, resolve))
    if (fate.kind === 'refused') {
      await this.#arrive(fate.backMs)
      throw command.broken()
    }
    // A command on its way reaches its server also if its process has ended meanwhile.
    const outcome = await resultOf(act)
    trace(this.name, command.name)
    if (fate.kind === 'killed_after') this.kill()
    await this.#arrive(fate.backMs)
    if (fate.kind === 'answer_lost') throw command.broken()
    if (outcome.kind === 'failed') throw outcome.error
    return outcome.value
  }

  #wait(delayMs: number, subscribe: (wake: () => void) => () => void): Promise<void> {
    return new Promise(resolve => {
      const done = () => {
        cancel()
        end()
        if (this.#isAlive) resolve()
      }
      const cancel = this.#schedule(delayMs, done)
      const end = subscribe(done)
    })
  }
}

async function resultOf<T>(act: () => T | Promise<T>) {
  try {
    return { kind: 'done' as const, value: await act() }
  } catch (error) {
    return { kind: 'failed' as const, error }
  }
}
