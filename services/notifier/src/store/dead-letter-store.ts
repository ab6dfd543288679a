import type { DeadLetterDocument } from '@backstop/contracts'

/** The only writer of `dead_letters`. */
export interface DeadLetterStore {
  /** Keeps these letters; one that died before is kept as it is now. Doing so again changes nothing. */
  keep(letters: readonly DeadLetterDocument[]): Promise<void>
}
