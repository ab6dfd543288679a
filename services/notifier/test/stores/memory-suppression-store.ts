import type { SuppressionStore } from '../../src/suppressed-addresses/suppression-store.ts'
import type { MemoryCollections } from './memory-stores.ts'

/** The in-memory equivalent of the MongoDB store; both pass `test/suppressions.contract.ts`. */
export function createMemorySuppressionStore({
  suppressions,
}: Pick<MemoryCollections, 'suppressions'>): SuppressionStore {
  return {
    async load(ids) {
      return new Map(
        ids.flatMap(id => {
          const found = suppressions.get(id)
          return found === undefined ? [] : [[id, structuredClone(found)] as const]
        }),
      )
    },
    async save(changes) {
      for (const [id, document] of changes) {
        if (document === null) suppressions.delete(id)
        else suppressions.set(id, structuredClone(document))
      }
    },
  }
}
