import {
  type ActionDocument,
  partsOfStormScope,
  type StormDocument,
  type StormMemberDocument,
  stormScopesOf,
} from '@backstop/contracts'
import { isDuplicateKey, mongoStore, ONE_ANSWER, writeIgnoringDuplicates } from '@backstop/kit/mongo'
import { createMongoOutboxSource } from '@backstop/kit/outbox'
import type { AnyBulkWriteOperation, Collection, Db, Filter } from 'mongodb'
import type { RecordedMember } from './rules/assign-members.ts'
import type { CountedMember } from './rules/storm-totals.ts'
import type { MemberQuery, StormReportWrite, StormStore } from './storm-store.ts'

const DECISION = { connection_id: 1, opened_at: 1, recorded_at: 1, storm_id: 1, alone: 1 } as const
const COUNTED = {
  _id: 0,
  action_id: 1,
  kind: 1,
  opened_at: 1,
  amount: 1,
  currency: 1,
  state: 1,
  account: 1,
  subject: 1,
  facts: 1,
  acknowledged_at: 1,
  resolved_at: 1,
  explained: 1,
} as const
/** All incidents of an action together, the oldest first. */
const BY_ACTION = { action_id: 1, opened_at: 1, _id: 1 } as const

export function createMongoStormStore(db: Db): StormStore {
  const storms = db.collection<StormDocument>('storms')
  const members = db.collection<StormMemberDocument>('storm_members')
  return mongoStore<StormStore>({
    async read({ incidentIds, near }) {
      const known: Filter<StormMemberDocument>[] = incidentIds.length > 0 ? [{ _id: { $in: [...incidentIds] } }] : []
      const filters = [...known, ...near.map(withoutStorm)]
      const connections = [...new Set(near.map(({ scope }) => partsOfStormScope(scope).connectionId))]
      const [found, open] = await Promise.all([
        filters.length === 0
          ? []
          : members.find<RecordedMember>({ $or: filters }, { projection: DECISION, ...ONE_ANSWER }).toArray(),
        connections.length === 0
          ? []
          : storms
              .find<Pick<StormDocument, '_id' | 'connection_id'>>(
                {
                  $or: connections.map(connection => ({
                    connection_id: anyScopeOf(connection),
                    state: 'open' as const,
                  })),
                },
                { projection: { connection_id: 1 }, ...ONE_ANSWER },
              )
              .toArray(),
      ])
      return { members: found, openStorms: new Map(open.map(({ _id, connection_id }) => [connection_id, _id])) }
    },
    async insert(documents) {
      const duplicates = await writeIgnoringDuplicates(
        () => members.insertMany([...documents], { ordered: false }),
        documents.length,
      )
      return new Set(duplicates.map(index => (documents[index] as StormMemberDocument)._id))
    },
    async change(changes) {
      if (changes.length === 0) return
      const updates = changes.map(
        ({ incidentId, set }): AnyBulkWriteOperation<StormMemberDocument> => ({
          updateOne: { filter: { _id: incidentId }, update: { $set: set } },
        }),
      )
      await members.bulkWrite(updates, { ordered: false })
    },

    async adopt(stormId, near) {
      await members.updateMany(withoutStorm(near), { $set: { storm_id: stormId, connection_id: near.scope } })
    },
    async move(scope, from, to, incidentIds) {
      const some = incidentIds === null ? {} : { _id: { $in: [...incidentIds] } }
      await members.updateMany({ connection_id: scope, storm_id: from, ...some }, { $set: { storm_id: to } })
    },
    countMembers: storm => members.countDocuments(membersIn(storm)),

    async visitMembers(storm, visit) {
      const found = members
        .find<CountedMember>(membersIn(storm), { projection: COUNTED, batchSize: 1_000 })
        .sort(BY_ACTION)
      for await (const member of found) visit(member)
    },
    async actionsOf(actionIds) {
      const found = await db
        .collection<ActionDocument>('actions')
        .find({ _id: { $in: [...actionIds] } }, { projection: { origin: 1, actor_id: 1, customer: 1, links: 1 } })
        .toArray()
      return new Map(found.map(action => [action._id, action]))
    },
    ...createMongoStorms(storms),
  })
}

/** The part of the store that reads and writes storms alone. */
function createMongoStorms(storms: Collection<StormDocument>) {
  return {
    async lookAgain(stormIds, atMs) {
      if (stormIds.length === 0) return
      const _id = { $in: [...stormIds] }
      // Both versions, because a resolution makes no update due.
      await storms.updateMany({ _id }, { $inc: { version: 1, reported_version: 1 } })
      await storms.updateMany({ _id, state: 'ended' }, { $set: { next_look_at: new Date(atMs) } })
    },

    async noteAcknowledged(stormIds, atMs) {
      if (stormIds.length === 0) return
      const update = {
        $inc: { version: 1, reported_version: 1, acknowledgements: 1 },
        $set: { next_look_at: new Date(atMs) },
      }
      await storms.updateMany({ _id: { $in: [...stormIds] } }, update)
    },

    async touch(joins) {
      // One command, because there may be a storm for each message of a batch.
      const updates = joins.map(
        ({ stormId, recordedAtMs }): AnyBulkWriteOperation<StormDocument> => ({
          updateOne: {
            filter: { _id: stormId, state: 'open' },
            update: { $max: { last_member_at: new Date(recordedAtMs) }, $inc: { version: 1 } },
          },
        }),
      )
      return (await storms.bulkWrite(updates, { ordered: false })).matchedCount === joins.length
    },
    find: async stormId => (await storms.findOne({ _id: stormId })) ?? undefined,
    openStormOf: async scope => (await storms.findOne({ connection_id: scope, state: 'open' }))?._id,
    open: storm => unlessAnotherIsOpen(() => storms.insertOne(storm)),
    async addBurst(_id, burst) {
      await storms.updateOne({ _id, 'bursts.incident_id': { $ne: burst.incident_id } }, { $push: { bursts: burst } })
    },
    async remove({ _id, version }) {
      await storms.deleteOne({ _id, state: 'open', report: 0, version })
    },
    async reopen(stormId, atMs) {
      const reopened = { state: 'open', ended_at: null, next_look_at: new Date(atMs) } as const
      await unlessAnotherIsOpen(() => storms.updateOne({ _id: stormId, state: 'ended' }, { $set: reopened }))
    },
    due: (nowMs, limit) =>
      storms
        .find({ next_look_at: { $lte: new Date(nowMs) } })
        .limit(limit)
        .toArray(),
    async postpone({ _id, report, acknowledgements }, untilMs) {
      const look = { next_look_at: new Date(untilMs), seen_acknowledgements: acknowledgements }
      await storms.updateOne({ _id, report, acknowledgements, state: 'open' }, { $set: look })
    },
    async forget({ _id, report, version }) {
      await storms.updateOne({ _id, report, version, state: 'ended' }, { $unset: { next_look_at: '' } })
    },
    async report(storm, write) {
      const isEnd = write.nextLookAtMs === null
      const { _id, report, version, state, acknowledgements } = storm
      const reported = await storms.findOneAndUpdate(
        { _id, report, state, acknowledgements, ...(isEnd ? { version } : {}) },
        toReportUpdate(storm, write),
        { returnDocument: 'after' },
      )
      return reported === null ? undefined : { documentId: _id, entries: reported.outbox ?? [] }
    },
    outbox: createMongoOutboxSource(storms),
  } satisfies Partial<StormStore>
}

/** The unique index refuses a second open storm of a scope. */
async function unlessAnotherIsOpen(write: () => Promise<unknown>): Promise<void> {
  try {
    await write()
  } catch (error) {
    if (!isDuplicateKey(error)) throw error
  }
}

function anyScopeOf(connectionId: string) {
  const { min, max } = stormScopesOf(connectionId)
  return { $gte: min, $lte: max }
}

/** The scope of many accounts has the members of every account. */
function withoutStorm({ scope, fromMs, toMs }: MemberQuery['near'][number]): Filter<StormMemberDocument> {
  const opened_at = { $gte: new Date(fromMs), $lte: new Date(toMs) }
  const connection_id = scope.endsWith('/') ? { $gte: scope, $lte: `${scope}\uffff` } : scope
  return { connection_id, storm_id: null, opened_at }
}

/** Both fields, because the indexes begin with the connection. */
function membersIn({ _id, connection_id }: Pick<StormDocument, '_id' | 'connection_id'>): Filter<StormMemberDocument> {
  return { connection_id, storm_id: _id }
}

function toReportUpdate(storm: StormDocument, write: StormReportWrite) {
  const { entry, incidents, resolved, unacknowledged, atMs, nextLookAtMs } = write
  const at = new Date(atMs)
  const reported = {
    report: storm.report + 1,
    reported_at: at,
    reported_version: storm.version,
    reported_incidents: incidents,
    reported_resolved: resolved,
    reported_unacknowledged: unacknowledged,
    seen_acknowledgements: storm.acknowledgements,
  }
  return {
    ...(nextLookAtMs === null
      ? {
          $set: { ...reported, state: 'ended' as const, ended_at: storm.ended_at ?? at },
          $unset: { next_look_at: '' as const },
        }
      : { $set: { ...reported, next_look_at: new Date(nextLookAtMs) } }),
    ...(entry === null ? {} : { $push: { outbox: entry } }),
  }
}
