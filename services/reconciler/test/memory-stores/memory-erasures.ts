import type { ConnectionDocument, PersonErasureDocument } from '@backstop/contracts'
import { type Erasure, type ErasureStore, isDue, toErasure } from '../../src/erasure/erasure-store.ts'

/** Erasures in memory, for simulations. */
export function createMemoryErasures(
  connections: ReadonlyMap<string, ConnectionDocument>,
  requests: ReadonlyMap<string, PersonErasureDocument>,
  erasures: Map<string, Erasure>,
): ErasureStore {
  return {
    async next({ deletedBefore, now }, except) {
      const deleted = [...connections.values()].filter(
        ({ deleted_at }) => deleted_at !== null && deleted_at.getTime() <= deletedBefore,
      )
      const asked = [...requests.values()].filter(({ person }) => person !== null)
      return [...asked, ...deleted]
        .map(request => erasures.get(request._id) ?? toErasure(request, undefined))
        .find(erasure => except?.has(erasure.id) !== true && isDue(erasure, now))
    },
    async save(erasure) {
      if ((erasures.get(erasure.id)?.finishedAt ?? null) === null) erasures.set(erasure.id, erasure)
    },
  }
}
