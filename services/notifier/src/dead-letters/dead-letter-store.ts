import type { DeadLetterDocument } from '@backstop/contracts'

/** A dead letter that was sent again, with its `parked_at` at that time. */
export interface ReplayedLetter {
  readonly id: string
  readonly parkedAt: Date
}

/** The only writer of `dead_letters`. */
export interface DeadLetterStore {
  /** Stores these dead letters; a stored one with the same id is replaced. Idempotent. */
  keep(letters: readonly DeadLetterDocument[]): Promise<void>
  /** Records that these dead letters were sent again. A dead letter that was dead-lettered again meanwhile stays as it is. */
  markReplayed(replayed: readonly ReplayedLetter[], at: Date): Promise<void>
}
