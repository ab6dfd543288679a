import type { ChangePosition } from '@backstop/ledger'
import type { OperationSearchStore } from '../../src/sweep/operation-search-store.ts'

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
