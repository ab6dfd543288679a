import type { ChannelHealthDocument } from '@backstop/contracts'
import { mongoStore } from '@backstop/kit/mongo'
import { createMongoOutboxSource, type PendingOutbox } from '@backstop/kit/outbox'
import type { AnyBulkWriteOperation, Db, Document } from 'mongodb'
import type { ChannelReports, HealthStore, HeldChannel, HoldOrder, ReachOrder } from './health-store.ts'
import { type DisableOrder, type HealthChange, oldestDayKept, summariseReports } from './rules/channel-health.ts'
import type { FailingOrder } from './rules/failing-channel.ts'

export function createMongoHealthStore(db: Db): HealthStore {
  const collection = db.collection<ChannelHealthDocument>('channel_health')
  const toPendingOutbox = ({ _id, outbox }: Pick<ChannelHealthDocument, '_id' | 'outbox'>): PendingOutbox => ({
    documentId: _id,
    entries: outbox ?? [],
  })
  return mongoStore<HealthStore>({
    async record(channels) {
      if (channels.length === 0) return
      await collection.bulkWrite(channels.map(toHealthUpdate), { ordered: false })
    },
    async recordHolds(orders) {
      if (orders.length === 0) return
      await collection.bulkWrite(orders.map(toHoldUpdate), { ordered: false })
    },
    findHeld: channelIds =>
      collection
        .find<HeldChannel>(
          { _id: { $in: [...channelIds] }, held: { $exists: true } },
          { projection: { failing_since: 1, held: 1 } },
        )
        .toArray(),
    failingSince: (channelIds, sinceMs) =>
      collection
        .find({ _id: { $in: [...channelIds] }, disabled_at: null, failing_since: { $lte: new Date(sinceMs) } })
        .toArray(),
    async disable(orders) {
      if (orders.length === 0) return []
      await collection.bulkWrite(orders.map(toDisableUpdate), { ordered: true })
      const incidents = orders.map(order => order.incidentId)
      const done = collection.find({ _id: { $in: orders.map(order => order.channelId) } })
      return (await done.toArray())
        .filter(one => incidents.includes(one.disabled_incident_id ?? ''))
        .map(one => toPendingOutbox(one))
    },
    find: async channelId => (await collection.findOne({ _id: channelId })) ?? undefined,
    async enable(channelId, { incidentId, entry }) {
      const enabled = await collection.findOneAndUpdate(
        { _id: channelId, disabled_incident_id: incidentId },
        {
          $set: { disabled_at: null, disabled_reason: null, disabled_incident_id: null, ...NO_FAILURES },
          ...(entry === null ? {} : { $push: { outbox: entry } }),
        },
        { returnDocument: 'after' },
      )
      return enabled === null ? undefined : toPendingOutbox(enabled)
    },
    findTroubled: () =>
      collection
        .find({
          $or: [
            { undelivered_since: { $type: 'date' } },
            { unreached: { $exists: true } },
            { failing_incident_id: { $type: 'string' } },
          ],
        })
        .toArray(),
    async recordReach(orders) {
      if (orders.length > 0) await collection.bulkWrite(orders.map(toReachUpdate), { ordered: false })
    },
    async changeFailing(orders) {
      if (orders.length === 0) return []
      await collection.bulkWrite(orders.map(toFailingUpdate), { ordered: false })
      const changed = collection.find({
        _id: { $in: orders.map(one => one.channelId) },
        'outbox.0': { $exists: true },
      })
      return (await changed.toArray()).map(one => toPendingOutbox(one))
    },
    outbox: createMongoOutboxSource(collection),
  })
}

const NO_FAILURES = { failing_since: null, undelivered_since: null } as const

/** A reach that is over also ends the failures that it caused, but not those of the mail server. */
function toReachUpdate({ channelId, projectId, unreached }: ReachOrder): AnyBulkWriteOperation<ChannelHealthDocument> {
  const filter = { _id: channelId }
  if (unreached === null) {
    const update = [{ $set: { undelivered_since: storedOr('failing_since'), unreached: '$$REMOVE' } }]
    return { updateOne: { filter, update } }
  }
  const set: Document = {
    ...storedFields(projectId),
    unreached: { since: storedOr('unreached.since', unreached.since), reason: { $literal: unreached.reason } },
  }
  return { updateOne: { filter, update: [{ $set: set }], upsert: true } }
}

/** The condition lets one of several processes open the incident. */
function toFailingUpdate({
  kind,
  channelId,
  incidentId,
  entry,
}: FailingOrder): AnyBulkWriteOperation<ChannelHealthDocument> {
  if (kind === 'resolve') {
    const filter = { _id: channelId, failing_incident_id: incidentId }
    return { updateOne: { filter, update: { $set: { failing_incident_id: null }, $push: { outbox: entry } } } }
  }
  // A success since the channel was read has ended the fault.
  const isTroubled = [{ undelivered_since: { $type: 'date' as const } }, { unreached: { $exists: true } }]
  const filter = { _id: channelId, failing_incident_id: null, disabled_at: null, $or: isTroubled }
  return { updateOne: { filter, update: { $set: { failing_incident_id: incidentId }, $push: { outbox: entry } } } }
}

/**
 * An update pipeline, because the new values depend on the stored ones. Our values are literals, so that no text is
 * read as an expression.
 */
function toHealthUpdate({
  channelId,
  projectId,
  reports,
}: ChannelReports): AnyBulkWriteOperation<ChannelHealthDocument> {
  const change = summariseReports(reports)
  const set: Document = {
    ...storedFields(projectId),
    // $max, because two processes may write their reports in any order. It ignores null.
    last_success_at: { $max: [storedOr('last_success_at'), asDate(change.lastSuccessAtMs)] },
    last_failure_at: { $max: [storedOr('last_failure_at'), asDate(change.lastFailureAtMs)] },
    last_error: change.lastError === null ? storedOr('last_error') : { $literal: change.lastError },
    failing_since: change.hasWorked
      ? { $literal: asDate(change.failingSinceMs) }
      : storedOr('failing_since', asDate(change.failingSinceMs)),
    undelivered_since: change.hasWorked
      ? { $literal: asDate(change.undeliveredSinceMs) }
      : { $ifNull: ['$undelivered_since', '$failing_since', { $literal: asDate(change.undeliveredSinceMs) }] },
    days: mergedDays(change),
  }
  if (change.lastSuccessAtMs !== null) {
    set.held = { $cond: [{ $gt: ['$held.since', asDate(change.lastSuccessAtMs)] }, '$held', '$$REMOVE'] }
  }
  return { updateOne: { filter: { _id: channelId }, update: [{ $set: set }], upsert: true } }
}

function toHoldUpdate({ channelId, projectId, held }: HoldOrder): AnyBulkWriteOperation<ChannelHealthDocument> {
  const filter = { _id: channelId }
  if (held === null) return { updateOne: { filter, update: { $unset: { held: '' } } } }
  const set: Document = {
    ...storedFields(projectId),
    held: { $cond: [{ $gte: ['$last_success_at', held.since] }, '$held', { $literal: held }] },
  }
  return { updateOne: { filter, update: [{ $set: set }], upsert: true } }
}

function storedOr(field: string, otherwise: unknown = null): Document {
  return { $ifNull: [`$${field}`, { $literal: otherwise }] }
}

/** The stored values of the fields that every record has: whose health it is, whether it is disabled, and its last attempts. */
function storedFields(projectId: string): Document {
  return {
    project_id: storedOr('project_id', projectId),
    disabled_at: storedOr('disabled_at'),
    disabled_reason: storedOr('disabled_reason'),
    disabled_incident_id: storedOr('disabled_incident_id'),
    last_success_at: storedOr('last_success_at'),
    last_failure_at: storedOr('last_failure_at'),
    last_error: storedOr('last_error'),
  }
}

/** The stored counts plus the new counts, without days that are too old. */
function mergedDays({ days }: HealthChange): Document {
  const added = Object.entries(days).map(([day, { delivered, failed }]) => [
    day,
    {
      delivered: { $add: [{ $ifNull: [`$days.${day}.delivered`, 0] }, delivered] },
      failed: { $add: [{ $ifNull: [`$days.${day}.failed`, 0] }, failed] },
    },
  ])
  const oldest = oldestDayKept(Object.keys(days).sort().at(-1) ?? '1970-01-01')
  const all = { $objectToArray: { $mergeObjects: [{ $ifNull: ['$days', {}] }, Object.fromEntries(added)] } }
  return { $arrayToObject: { $filter: { input: all, cond: { $gte: ['$$this.k', oldest] } } } }
}

function toDisableUpdate(order: DisableOrder): AnyBulkWriteOperation<ChannelHealthDocument> {
  const { channelId, atMs, reason, incidentId, entry } = order
  return {
    updateOne: {
      filter: { _id: channelId, disabled_at: null },
      update: {
        $set: { disabled_at: new Date(atMs), disabled_reason: reason, disabled_incident_id: incidentId },
        $push: { outbox: entry },
      },
    },
  }
}

function asDate(atMs: number | null): Date | null {
  return atMs === null ? null : new Date(atMs)
}
