import { type DeliveryDocument, HEARTBEAT } from '@backstop/contracts'
import { mongoStore, ONE_ANSWER, updateIf, writeIgnoringDuplicates } from '@backstop/kit/mongo'
import type { AnyBulkWriteOperation, Db } from 'mongodb'
import {
  type DeliveryStore,
  fieldsOfOutcome,
  progressOf,
  type RecordedOutcome,
  type StoredProgress,
  SUPERSEDED_TEXT,
  type SupersedeOrder,
  showsOutcome,
} from './delivery-store.ts'

type StoredDelivery = StoredProgress & Pick<DeliveryDocument, '_id' | 'told_by'>
const PROGRESS = {
  state: 1,
  reason: 1,
  created_at: 1,
  next_attempt: 1,
  ladder_from: 1,
  told_by: 1,
  ended_addresses: 1,
  goes_alone: 1,
  digest_group: 1,
  'attempts.attempt': 1,
  'attempts.at': 1,
} as const

export function createMongoDeliveryStore(db: Db): DeliveryStore {
  const collection = db.collection<DeliveryDocument>('deliveries')
  const find = (ids: readonly string[]) =>
    collection.find<StoredDelivery>({ _id: { $in: [...ids] } }, { projection: PROGRESS, ...ONE_ANSWER }).toArray()
  return mongoStore<DeliveryStore>({
    async insertNew(deliveries) {
      const duplicates = await writeIgnoringDuplicates(
        () => collection.insertMany([...deliveries], { ordered: false }),
        deliveries.length,
      )
      return new Set(duplicates.map(index => (deliveries[index] as DeliveryDocument)._id))
    },

    async progressOf(deliveryIds) {
      if (deliveryIds.length === 0) return new Map()
      return new Map((await find(deliveryIds)).map(document => [document._id, progressOf(document)]))
    },

    async record(outcomes) {
      if (outcomes.length === 0) return new Set()
      const result = await collection.bulkWrite(outcomes.map(toOutcomeUpdate), { ordered: false })
      if (result.modifiedCount === outcomes.length) return new Set()
      // The server returns the number of unchanged documents but not their ids, so the documents are read.
      const found = new Map((await find(outcomes.map(one => one.deliveryId))).map(one => [one._id, one]))
      const refused = outcomes.filter(outcome => {
        const document = found.get(outcome.deliveryId)
        return document === undefined || !showsOutcome(document, outcome)
      })
      return new Set(refused.map(outcome => outcome.deliveryId))
    },

    async supersede(orders) {
      if (orders.length === 0) return new Set()
      const result = await collection.bulkWrite(orders.map(toSupersedeUpdate), { ordered: false })
      if (result.matchedCount === orders.length) return new Set()
      const found = new Map((await find(orders.map(one => one.deliveryId))).map(one => [one._id, one]))
      const refused = orders.filter(({ deliveryId, byId }) => found.get(deliveryId)?.told_by !== byId)
      return new Set(refused.map(order => order.deliveryId))
    },

    findWaiting: ({ channelId, createdFromMs, dueByMs, after, limit }) =>
      collection
        .find({
          channel_id: channelId,
          created_at: { $gte: new Date(createdFromMs) },
          state: { $in: ['pending', 'retrying'] },
          test: false,
          'next_attempt.due_at': { $lte: new Date(dueByMs) },
          ...(after === null
            ? {}
            : {
                $or: [
                  { created_at: { $gt: after.created_at } },
                  { created_at: after.created_at, _id: { $gt: after._id } },
                ],
              }),
        })
        .sort({ created_at: 1, _id: 1 })
        .limit(limit)
        .toArray(),

    findDigest: digestId =>
      collection.find({ digest_group: digestId, state: 'retrying', goes_alone: { $ne: true } }).toArray(),

    async removeHeartbeats(createdBefore) {
      const { channelId } = HEARTBEAT
      await collection.deleteMany({ channel_id: channelId, created_at: { $lt: createdBefore }, state: 'delivered' })
    },
  })
}

function toOutcomeUpdate(outcome: RecordedOutcome): AnyBulkWriteOperation<DeliveryDocument> {
  const { deliveryId, attempt, record, endedAddresses } = outcome
  const ended = endedAddresses === undefined ? {} : { ended_addresses: endedAddresses }
  return updateIf(
    deliveryId,
    { $eq: ['$next_attempt.attempt', attempt] },
    { set: fieldsOfOutcome(outcome), append: record === null ? {} : { attempts: [record], ...ended } },
  )
}

function toSupersedeUpdate({
  deliveryId,
  byId,
  waitsFor,
  atMs,
}: SupersedeOrder): AnyBulkWriteOperation<DeliveryDocument> {
  const standsAsRead = waitsFor === null ? { state: 'dead' as const } : { 'next_attempt.attempt': waitsFor }
  return {
    updateOne: {
      filter: { _id: deliveryId, ...standsAsRead },
      update: {
        $set: {
          state: 'superseded',
          reason: SUPERSEDED_TEXT,
          next_attempt: null,
          told_by: byId,
          updated_at: new Date(atMs),
        },
      },
    },
  }
}
