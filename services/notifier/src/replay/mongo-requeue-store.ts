import { withoutCustomer, withoutPersonalData } from '@backstop/channels'
import type {
  DeliveryDocument,
  DeliveryErasureDocument,
  ErasedActionDocument,
  PersonErasureDocument,
  ReplayDocument,
} from '@backstop/contracts'
import { isDuplicateKey, mongoStore, ONE_ANSWER } from '@backstop/kit/mongo'
import type { AnyBulkWriteOperation, Collection, Db, Filter } from 'mongodb'
import {
  ERASED_TEXT,
  type ErasedAlerts,
  REQUEUED_TEXT,
  type ReplayStore,
  type ReplayWindow,
  type RequeueOrder,
  type RequeueStore,
} from './requeue-store.ts'
import { overdueBefore } from './rules/decide-requeue.ts'
import { namesCustomer } from './rules/names-customer.ts'

export function createMongoRequeueStore(db: Db): RequeueStore {
  const deliveries = db.collection<DeliveryDocument>('deliveries')
  const erasures = db.collection<DeliveryErasureDocument>('delivery_erasures')
  const erasedActions = db.collection<ErasedActionDocument>('erased_actions')
  return mongoStore<RequeueStore>({
    find: async id => (await deliveries.findOne({ _id: id })) ?? undefined,
    async requeue(orders) {
      if (orders.length === 0) return new Set()
      const result = await deliveries.bulkWrite(orders.map(toRequeueUpdate), { ordered: false })
      if (result.matchedCount === orders.length) return new Set()
      const ids = orders.map(order => order.deliveryId)
      const found = await deliveries
        .find({ _id: { $in: ids } }, { projection: { requested_by: 1 }, ...ONE_ANSWER })
        .toArray()
      const requestedBy = new Map(found.map(one => [one._id, one.requested_by]))
      const refused = orders.filter(order => requestedBy.get(order.deliveryId) !== order.requestId)
      return new Set(refused.map(order => order.deliveryId))
    },
    async erasePersonalData(projectId, about) {
      if ('connectionId' in about)
        return eraseIn(deliveries, { project_id: projectId, $or: ofConnection(about) }, withoutPersonalData)
      // First, so that deliveries that are recorded from now on do not have the data.
      await markErased(erasedActions, projectId, about)
      return erasePerson(db, projectId, about)
    },
    async recordErasure({ id: _id, projectId: project_id }, count, finishedAt) {
      const isLast = finishedAt === null ? {} : { $set: { finished_at: finishedAt } }
      const first = { project_id, ...(finishedAt === null ? { finished_at: null } : {}) }
      await erasures.updateOne(
        { _id },
        { $inc: { deliveries: count }, $setOnInsert: first, ...isLast },
        { upsert: true },
      )
    },
    countFailed: window => deliveries.countDocuments({ $and: [inWindow(window), failed(window)] }),
    countWaiting: (replayId, channelId, most) =>
      deliveries.countDocuments(
        { channel_id: channelId, requested_by: replayId, 'next_attempt.topic': 'deliveries' },
        { limit: most },
      ),
    nextOfReplay: (replay, limit) =>
      deliveries
        .find({
          $and: [
            inWindow(replay),
            afterCursor(replay.cursor),
            { $or: [failed(replay), { requested_by: replay._id, 'next_attempt.topic': 'deliveries' }] },
          ],
        })
        .sort({ created_at: 1, _id: 1 })
        .limit(limit)
        .toArray(),
  })
}

type OfPerson = Extract<ErasedAlerts, { actionIds: unknown }>

async function markErased(
  erasedActions: Collection<ErasedActionDocument>,
  project_id: string,
  { actionIds, at }: OfPerson,
): Promise<void> {
  if (actionIds.length === 0) return
  const updates = actionIds.map(_id => ({
    updateOne: { filter: { _id }, update: { $set: { project_id, at } }, upsert: true },
  }))
  await erasedActions.bulkWrite(updates, { ordered: false })
}

/** The number of deliveries that are read, and changed, with one command. */
const ERASED_AT_ONCE = 500

/** Fields of deliveries with an index of their own. */
const ACTION_ID = 'alert.data.action.action_id'
const STORM_CUSTOMER = 'alert.data.storm.common.customer.count'
const BURST_CUSTOMER = 'alert.data.incident.burst.common.customer.count'

type Strip = typeof withoutCustomer

async function erasePerson(db: Db, projectId: string, about: OfPerson): Promise<number> {
  const deliveries = db.collection<DeliveryDocument>('deliveries')
  const requests = db.collection<PersonErasureDocument>('person_erasures')
  const request = await requests.findOne({ _id: about.erasureId }, { projection: { person: 1 } })
  const customer = { ids: about.customerIds, person: request?.person ?? null }
  let erased = await eraseIn(
    deliveries,
    { project_id: projectId, [ACTION_ID]: { $in: [...about.actionIds] } },
    withoutCustomer,
  )
  for (const field of [STORM_CUSTOMER, BURST_CUSTOMER]) {
    erased += await eraseIn(deliveries, { project_id: projectId, [field]: { $exists: true } }, alert =>
      namesCustomer(alert, customer) ? withoutCustomer(alert) : alert,
    )
  }
  return erased
}

async function eraseIn(
  deliveries: Collection<DeliveryDocument>,
  filter: Filter<DeliveryDocument>,
  strip: Strip,
): Promise<number> {
  const found = deliveries.find(filter, { projection: { alert: 1 }, batchSize: ERASED_AT_ONCE })
  let erased = 0
  const changes: AnyBulkWriteOperation<DeliveryDocument>[] = []
  const write = async () => {
    if (changes.length > 0) erased += (await deliveries.bulkWrite(changes.splice(0), { ordered: false })).matchedCount
  }
  for await (const { _id, alert: stored } of found) {
    const alert = strip(stored)
    if (alert === stored) continue
    const $set = {
      alert,
      reason: ERASED_TEXT,
      'attempts.$[].response': null,
      'attempts.$[failed].error': ERASED_TEXT,
    }
    const arrayFilters = [{ 'failed.error': { $type: 'string' } }]
    changes.push({ updateOne: { filter: { _id }, update: { $set }, arrayFilters } })
    if (changes.length === ERASED_AT_ONCE) await write()
  }
  await write()
  return erased
}

function ofConnection({ connectionId }: Extract<ErasedAlerts, { connectionId: string }>): Filter<DeliveryDocument>[] {
  return [
    { 'alert.data.action.connection_ids': connectionId },
    { 'alert.data.storm.connection_id': connectionId },
    { 'alert.data.incident.code': 'UNEXPLAINED_BURST', 'alert.data.incident.connection_id': connectionId },
  ]
}

/** A delivery whose attempt is due has a message on `deliveries`, so a replay leaves it alone, unless it is overdue. */
function failed({ requested_at }: ReplayWindow): Filter<DeliveryDocument> {
  return {
    $or: [
      { state: 'dead' },
      { state: 'retrying', 'next_attempt.topic': { $ne: 'deliveries' } },
      { state: { $in: ['pending', 'retrying'] }, 'next_attempt.due_at': { $lt: overdueBefore(requested_at) } },
    ],
  }
}

function inWindow({ project_id, channel_id, from, to }: ReplayWindow): Filter<DeliveryDocument> {
  return { channel_id, project_id, created_at: { $gte: from, $lt: to }, test: false }
}

function afterCursor(cursor: ReplayDocument['cursor']): Filter<DeliveryDocument> {
  if (cursor === null) return {}
  const { created_at, delivery_id } = cursor
  return { $or: [{ created_at: { $gt: created_at } }, { created_at, _id: { $gt: delivery_id } }] }
}

function toRequeueUpdate(order: RequeueOrder): AnyBulkWriteOperation<DeliveryDocument> {
  const { deliveryId, requestId, attempt, waitsFor, ladderFrom, atMs } = order
  const at = new Date(atMs)
  const standsAsRead = waitsFor === null ? { state: 'dead' as const } : { 'next_attempt.attempt': waitsFor }
  return {
    updateOne: {
      filter: { _id: deliveryId, ...standsAsRead },
      update: {
        $set: {
          state: 'retrying',
          reason: REQUEUED_TEXT,
          next_attempt: { attempt, due_at: at, topic: 'deliveries' },
          requested_by: requestId,
          updated_at: at,
          ladder_from: ladderFrom,
        },
      },
    },
  }
}

export function createMongoReplayStore(db: Db): ReplayStore {
  const replays = db.collection<ReplayDocument>('replays')
  return mongoStore<ReplayStore>({
    async begin(replay) {
      try {
        await replays.insertOne(replay)
        return true
      } catch (error) {
        if (isDuplicateKey(error)) return false
        throw error
      }
    },
    async claim(nowMs, untilMs) {
      const claimed = await replays.findOneAndUpdate(
        { state: 'running', next_page_at: { $lte: new Date(nowMs) } },
        { $set: { next_page_at: new Date(untilMs) } },
        { sort: { next_page_at: 1 }, returnDocument: 'after' },
      )
      return claimed ?? undefined
    },
    async advance(replay, { cursor, requeued, nextPageAtMs, finishedAtMs }) {
      const change = {
        cursor,
        requeued,
        next_page_at: new Date(nextPageAtMs),
        ...(finishedAtMs === null ? {} : { state: 'done' as const, finished_at: new Date(finishedAtMs) }),
      }
      const stands = { _id: replay._id, state: 'running' as const, cursor: replay.cursor }
      await replays.updateOne(stands, { $set: change })
    },
  })
}
