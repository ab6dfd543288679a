import type { SuppressionDocument } from '@backstop/contracts'
import { mongoStore } from '@backstop/kit/mongo'
import type { Db } from 'mongodb'
import type { SuppressionStore } from './suppression-store.ts'

export function createMongoSuppressionStore(db: Db): SuppressionStore {
  const collection = db.collection<SuppressionDocument>('suppressions')
  return mongoStore<SuppressionStore>({
    async load(ids) {
      const found = await collection.find({ _id: { $in: [...ids] } }).toArray()
      return new Map(found.map(one => [one._id, one]))
    },
    async save(changes) {
      if (changes.size === 0) return
      const writes = [...changes].map(([_id, document]) =>
        document === null
          ? { deleteOne: { filter: { _id } } }
          : { replaceOne: { filter: { _id }, replacement: document, upsert: true } },
      )
      await collection.bulkWrite(writes, { ordered: false })
    },
  })
}
