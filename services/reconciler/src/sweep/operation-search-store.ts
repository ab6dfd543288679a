import type { OperationSearchDocument } from '@backstop/contracts'
import { asUnavailable, isDuplicateKey, type Mongo } from '@backstop/kit/mongo'
import type { ChangePosition } from '@backstop/ledger'

/** How far the operations that were sent to the provider were compared with the cases. One process at a time compares. */
export interface OperationSearchStore {
  /**
   * Leases the search.
   * @param first the position of the first search of an installation
   * @returns undefined if another process has the lease
   */
  claim(first: ChangePosition, now: number, leasedUntil: number): Promise<ClaimedSearch | undefined>
  /** Stores that every operation up to this position was compared. @param leasedUntil null ends the lease */
  advance(position: ChangePosition, leasedUntil: number | null): Promise<void>
}

export interface ClaimedSearch {
  /** The position after which to continue. */
  readonly position: ChangePosition
  /** True if the search before did not end its lease: operations behind the position may be applied in part. */
  readonly wasInterrupted: boolean
}

/** The progress of the search for operations that no case knows, collection `operation_search`. */
export function createMongoOperationSearch(mongo: Mongo): OperationSearchStore {
  const searches = mongo.db.collection<OperationSearchDocument>('operation_search')
  const _id = 'changed'
  return {
    claim: (first, now, leasedUntil) =>
      asUnavailable(async () => {
        try {
          const before = await searches.findOneAndUpdate(
            // $not also matches null.
            { _id, leased_until: { $not: { $gte: new Date(now) } } },
            { $set: { leased_until: new Date(leasedUntil) }, $setOnInsert: { position: first } },
            { upsert: true, returnDocument: 'before' },
          )
          return {
            position: before?.position ?? first,
            wasInterrupted: before !== null && before.leased_until !== null,
          }
        } catch (error) {
          // The document exists, so it is leased.
          if (isDuplicateKey(error)) return undefined
          throw error
        }
      }),
    advance: (position, leasedUntil) =>
      asUnavailable(async () => {
        // $max, because a process that lost its lease may be behind. Documents are compared field by field.
        const { updated_at, operation_id } = position
        const change = {
          $max: { position: { updated_at, operation_id } },
          $set: { leased_until: leasedUntil === null ? null : new Date(leasedUntil) },
        }
        await searches.updateOne({ _id }, change)
      }),
  }
}
