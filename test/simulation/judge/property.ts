import type { Case } from './evidence.ts'

/** Something that must hold for every run. */
export interface Property {
  /** As in test/guarantees and in the lines of a failure. */
  readonly name: string
  /** The id of the promise in docs/guarantees.md. */
  readonly promise: string
  /** @returns what is wrong, a line each */
  check(run: Case): readonly string[]
}
