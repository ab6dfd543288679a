import type { SuppressionDocument } from '@backstop/contracts'

/** The only writer of `suppressions`: the addresses that get no more mail of a project. */
export interface SuppressionStore {
  /** What is kept, by the ids of `suppressionId`. */
  load(ids: readonly string[]): Promise<ReadonlyMap<string, SuppressionDocument>>
  /**
   * Replaces what is kept. Not conditional: all news of one address comes by one partition of `commands`, so that two
   * processes have it at hand at the same time only for the moment of a rebalance, and both write the same then.
   * @param changes by id; null takes the document away
   */
  save(changes: ReadonlyMap<string, SuppressionDocument | null>): Promise<void>
}
