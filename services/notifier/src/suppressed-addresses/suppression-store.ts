import type { SuppressionDocument } from '@backstop/contracts'

/** The only writer of `suppressions`: the addresses that get no more mail of a project. */
export interface SuppressionStore {
  /** The stored suppressions, by the ids of `suppressionId`. */
  load(ids: readonly string[]): Promise<ReadonlyMap<string, SuppressionDocument>>
  /**
   * Replaces stored suppressions without a condition. All commands about one address are in one partition, so two
   * processes handle the same address only during a rebalance, and then both write the same document.
   * @param changes by id; null deletes the document
   */
  save(changes: ReadonlyMap<string, SuppressionDocument | null>): Promise<void>
}
