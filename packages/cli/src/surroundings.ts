import type { Environment } from '@backstop/kit'

/** Everything outside the process that a command uses directly. */
export interface Surroundings {
  readonly environment: Environment
  /** The working directory. */
  readonly folder: string
  /** Writes the result. */
  readonly out: (text: string) => void
  /** Writes progress and errors. */
  readonly err: (text: string) => void
  /** Whether `err` is a terminal, where a line can be overwritten. */
  readonly isTerminal: boolean
  /** User and machine, for the audit: ada@laptop. */
  readonly operator: string
  /** Milliseconds since the epoch. */
  readonly now: () => number
}
