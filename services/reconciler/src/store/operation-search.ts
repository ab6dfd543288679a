import type { OperationSearchDocument } from '@backstop/contracts'
import { asUnavailable, isDuplicateKey, type Mongo } from '@backstop/kit/mongo'
import type { ChangePosition } from '@backstop/ledger'
import type { OperationSearchStore } from './store.ts'

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

/** The progress in memory. */
export function createMemoryOperationSearch(): OperationSearchStore {
  let stored: { position: ChangePosition; leasedUntil: number | null } | undefined
  return {
    async claim(first, now, leasedUntil) {
      const before = stored
      if (before !== undefined && before.leasedUntil !== null && before.leasedUntil >= now) return undefined
      stored = { position: before?.position ?? first, leasedUntil }
      return { position: stored.position, wasInterrupted: before !== undefined && before.leasedUntil !== null }
    },
    async advance(position, leasedUntil) {
      const isBehind = stored !== undefined && comesAfter(stored.position, position)
      stored = { position: isBehind && stored !== undefined ? stored.position : position, leasedUntil }
    },
  }
}

function comesAfter(a: ChangePosition, b: ChangePosition): boolean {
  return a.updated_at === b.updated_at ? a.operation_id > b.operation_id : a.updated_at > b.updated_at
}
