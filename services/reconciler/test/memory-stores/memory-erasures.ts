import type { ConnectionDocument } from '@backstop/contracts'
import { type ConnectionErasure, type ErasureStore, toErasure } from '../../src/erasure/erasure-store.ts'

/** Erasures in memory, for simulations. */
export function createMemoryErasures(connections: ReadonlyMap<string, ConnectionDocument>): ErasureStore {
  const erasures = new Map<string, ConnectionErasure>()
  return {
    async next(deletedBefore, except) {
      const connection = [...connections.values()].find(
        ({ _id, deleted_at }) =>
          except?.has(_id) !== true &&
          deleted_at !== null &&
          deleted_at.getTime() <= deletedBefore &&
          (erasures.get(_id)?.finishedAt ?? null) === null,
      )
      return connection === undefined ? undefined : (erasures.get(connection._id) ?? toErasure(connection, undefined))
    },
    async save(erasure) {
      erasures.set(erasure.connectionId, erasure)
    },
  }
}
