import type { DeadLetterDocument } from '@backstop/contracts'
import { mongoStore } from '@backstop/kit/mongo'
import type { Db } from 'mongodb'
import type { DeadLetterStore } from './dead-letter-store.ts'

export function createMongoDeadLetterStore(db: Db): DeadLetterStore {
  const collection = db.collection<DeadLetterDocument>('dead_letters')
  return mongoStore<DeadLetterStore>({
    async keep(letters) {
      if (letters.length === 0) return
      const writes = letters.map(({ _id, ...replacement }) => ({
        replaceOne: { filter: { _id }, replacement, upsert: true },
      }))
      await collection.bulkWrite(writes)
    },
    async markReplayed(replayed, at) {
      if (replayed.length === 0) return
      const writes = replayed.map(({ id, parkedAt }) => ({
        updateOne: { filter: { _id: id, parked_at: parkedAt }, update: { $set: { replayed_at: at } } },
      }))
      await collection.bulkWrite(writes)
    },
  })
}
