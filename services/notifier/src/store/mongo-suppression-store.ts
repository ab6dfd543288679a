import type { SuppressionDocument } from '@backstop/contracts'
import { asUnavailable } from '@backstop/kit'
import type { Db } from 'mongodb'
import { foldAddress, suppressionId } from '../domain/suppression.ts'
import type { SuppressionStore } from './suppression-store.ts'

export function createMongoSuppressionStore(db: Db): SuppressionStore {
  const collection = db.collection<SuppressionDocument>('suppressions')
  return {
    suppressedOf: (projectId, addresses) =>
      asUnavailable(async () => {
        const ids = addresses.map(address => suppressionId({ projectId, address }))
        const found = await collection
          .find({ _id: { $in: ids }, reason: { $ne: null } }, { projection: { address: 1 } })
          .toArray()
        return new Set(found.map(one => foldAddress(one.address)))
      }),
    load: ids =>
      asUnavailable(async () => {
        const found = await collection.find({ _id: { $in: [...ids] } }).toArray()
        return new Map(found.map(one => [one._id, one]))
      }),
    async save(changes) {
      if (changes.size === 0) return
      const writes = [...changes].map(([_id, document]) =>
        document === null
          ? { deleteOne: { filter: { _id } } }
          : { replaceOne: { filter: { _id }, replacement: document, upsert: true } },
      )
      await asUnavailable(() => collection.bulkWrite(writes, { ordered: false }))
    },
  }
}
