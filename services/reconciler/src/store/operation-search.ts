import { asUnavailable, isDuplicateKey, type Mongo } from '@backstop/kit'
import type { ChangePosition } from '@backstop/ledger'
import type { OperationSearchStore } from './store.ts'

/** The only document of its collection. */
interface OperationSearchDocument {
  _id: 'changed'
  /** Every operation up to this position was compared. */
  position: ChangePosition
  leased_until: Date
}

/** The progress of the search for operations that no case knows, collection `operation_search`. */
export function createMongoOperationSearch(mongo: Mongo): OperationSearchStore {
  const searches = mongo.db.collection<OperationSearchDocument>('operation_search')
  const _id = 'changed'
  return {
    claim: (first, now, leasedUntil) =>
      asUnavailable(async () => {
        try {
          const found = await searches.findOneAndUpdate(
            { _id, leased_until: { $lt: new Date(now) } },
            { $set: { leased_until: new Date(leasedUntil) }, $setOnInsert: { position: first } },
            { upsert: true, returnDocument: 'after' },
          )
          return found?.position
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
          $set: { leased_until: new Date(leasedUntil) },
        }
        await searches.updateOne({ _id }, change)
      }),
  }
}

/** The progress in memory. */
export function createMemoryOperationSearch(): OperationSearchStore {
  let stored: { position: ChangePosition; leasedUntil: number } | undefined
  return {
    async claim(first, now, leasedUntil) {
      if (stored !== undefined && stored.leasedUntil >= now) return undefined
      stored = { position: stored?.position ?? first, leasedUntil }
      return stored.position
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
