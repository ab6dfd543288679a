/** The connection between one process and the simulated servers. The world decides about delays, faults and the end of the process. */
export interface Wire {
  /** Milliseconds since the epoch at the server. */
  now(): number
  /**
   * Carries out a command at a server. `act` runs there, at most once. The answer may be lost although it ran.
   * @throws what `act` throws, or an error of the connection from `broken`
   */
  call<T>(command: Command, act: () => T | Promise<T>): Promise<T>
  /** Resolves after `delayMs` of the process's time, or when `wake` is called by the function that `subscribe` gets. */
  wait(delayMs: number, subscribe: (wake: () => void) => () => void): Promise<void>
}

/** A command, for the trace and for faults. */
export interface Command {
  readonly server: 'mongo' | 'kafka' | 'provider' | 'receiver' | 'registry'
  /** For example `subjects.bulkWrite`. */
  readonly name: string
  readonly isWrite: boolean
  /** The error of a connection that breaks. */
  broken(): Error
}

/** A wire without delays and faults, for the contract tests. */
export const PERFECT_WIRE: Wire = {
  now: () => Date.now(),
  call: async (_command, act) => act(),
  wait: (delayMs, subscribe) =>
    new Promise(resolve => {
      const done = () => {
        clearTimeout(timer)
        end()
        resolve()
      }
      const timer = setTimeout(done, delayMs)
      const end = subscribe(done)
    }),
}
