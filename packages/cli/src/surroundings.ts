import type { Environment } from '@backstop/kit'

/** Everything outside a command that it touches by itself. */
export interface Surroundings {
  readonly environment: Environment
  /** Where it was called. */
  readonly folder: string
  /** For what was asked. */
  readonly out: (text: string) => void
  /** For progress and faults. */
  readonly err: (text: string) => void
  /** Whether `err` is a terminal, on which one line can be written again and again. */
  readonly isTerminal: boolean
  /** Who runs it and on which machine, for the audit: ada@laptop. */
  readonly operator: string
  /** Milliseconds since the epoch. */
  readonly now: () => number
}
