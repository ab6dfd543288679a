import type { Environment } from '@backstop/kit/config'

/** Whether the terminal shows what the user types: an answer is shown, a secret is hidden. */
export type Typed = 'shown' | 'hidden'

/** The environment of a command: variables, folder, output, user and clock. */
export interface Surroundings {
  readonly environment: Environment
  /** The working directory. */
  readonly folder: string
  /** Writes the result. */
  readonly out: (text: string) => void
  /** Writes progress and errors. */
  readonly err: (text: string) => void
  /** Reads standard input to its end, or one line after a question on a terminal. */
  readonly readInput: (question: string, typed: Typed) => Promise<string>
  /** True if `err` is a terminal, where a line can be overwritten. */
  readonly isTerminal: boolean
  /** User and machine for the audit, e.g. ada@laptop. */
  readonly operator: string
  /** The time in milliseconds since the epoch. */
  readonly now: () => number
}
