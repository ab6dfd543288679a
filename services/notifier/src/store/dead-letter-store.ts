import type { DeadLetterDocument } from '@backstop/contracts'

/** The only writer of `dead_letters`. */
export interface DeadLetterStore {
  /** Stores these dead letters; a stored one with the same id is replaced. Idempotent. */
  keep(letters: readonly DeadLetterDocument[]): Promise<void>
}
