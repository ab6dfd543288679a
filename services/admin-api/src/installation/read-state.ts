import type { ChannelDocument } from '@backstop/channels'
import {
  type ActionDocument,
  type ChannelHealthDocument,
  type CollectionName,
  type ConnectionDocument,
  DELIVERY_DAYS,
  type DeadLetterDocument,
  type DeliveryDocument,
  HEARTBEAT,
  ID_PREFIXES,
  INBOUND_TOPICS,
  type InboxDocument,
  IncidentCode,
  isoTime,
  type OperationDocument,
  type OperationSearchDocument,
  type ProviderKind,
  type SweepDocument,
} from '@backstop/contracts'
import { asUnavailable } from '@backstop/kit/mongo'
import { sentAndChangedAfter } from '@backstop/ledger'
import { KEY_REFUSED_TEXT } from '@backstop/providers'
import type { Db, Document } from 'mongodb'
import {
  type InstallationState,
  listHeldChannels,
  summarizeChannels,
  summarizeConnections,
  type Waiting,
} from './rules/summarize.ts'

/** Counts of things that may be very many end here, so that a reading stays cheap when the installation is in trouble. */
const COUNTED_AT_MOST = 10_000
/** How long MongoDB may work on one query, in milliseconds. */
const QUERY_MS = 2_000
/** An undecided action is overdue this long after its second look was due, in milliseconds: a provider has 4 s to answer. */
const OVERDUE_AFTER_MS = 10_000

/** Dead deliveries of channels that were deleted longer ago have expired. */
const DELETED_CHANNEL_MS = (DELIVERY_DAYS + 1) * 86_400_000
/** The subscription biller signs nothing, so only its answer gives a verdict. */
const UNSIGNED_PROVIDER: ProviderKind = 'subscription'

/** Reads the parts of the state, each by itself, so that one slow query hides only its own part. */
export type InstallationReaders = {
  readonly [P in keyof InstallationState]: (nowMs: number) => Promise<InstallationState[P]>
}

/** Readers of the state of the installation from the collections of all services. @throws AppError `unavailable` */
export function createInstallationReaders(db: Db): InstallationReaders {
  return {
    undecided: nowMs => asUnavailable(() => readUndecided(db, nowMs)),
    uncomparedOperations: nowMs => asUnavailable(() => readUncomparedOperations(db, nowMs)),
    incidents: () => asUnavailable(() => readIncidents(db)),
    // Without the second condition MongoDB would not use the index of open storms, which begins with connection_id.
    stormsOpen: () => asUnavailable(() => count(db, 'storms', { state: 'open', connection_id: { $gt: '' } })),
    connections: nowMs => asUnavailable(() => readConnections(db, nowMs)),
    deadLetters: nowMs => asUnavailable(() => readDeadLetters(db, nowMs)),
    deliveries: nowMs => asUnavailable(() => readDeliveries(db, nowMs)),
    channels: () => asUnavailable(() => readChannels(db)),
    outboxes: nowMs => asUnavailable(() => readOutboxes(db, nowMs)),
  }
}

/** The fields of the documents that a filter finds. */
function findFields<D extends Document>(
  db: Db,
  collection: CollectionName,
  filter: Document,
  ...fields: readonly string[]
): Promise<D[]> {
  const projection = Object.fromEntries(fields.map(field => [field, 1]))
  return db.collection(collection).find<D>(filter, { projection, maxTimeMS: QUERY_MS }).toArray()
}

function count(db: Db, collection: CollectionName, filter: Document): Promise<number> {
  return db.collection(collection).countDocuments(filter, { limit: COUNTED_AT_MOST, maxTimeMS: QUERY_MS })
}

/**
 * The query reads only the index of pending actions, earliest second look first. Merged actions keep their verdict, but are part of
 * another action.
 */
async function readUndecided(db: Db, nowMs: number): Promise<InstallationState['undecided']> {
  const isDue = { $lt: ['$second_look_at', isoTime(nowMs - OVERDUE_AFTER_MS)] }
  const hasLook = { $ne: [{ $ifNull: ['$second_look_at', null] }, null] }
  const isUnsigned = { $eq: ['$provider', UNSIGNED_PROVIDER] }
  const [found] = await db
    .collection<ActionDocument>('actions')
    .aggregate<{ count: number; overdue: number; waiting: number; oldest: Date | null }>(
      [
        { $match: { verdict: 'pending' } },
        { $sort: { second_look_at: 1 } },
        {
          $project: {
            _id: 0,
            first_seen: 1,
            isOwn: { $eq: [{ $ifNull: ['$merged_into', null] }, null] },
            isOverdue: { $and: [hasLook, isDue, { $not: [isUnsigned] }] },
            isWaiting: { $and: [hasLook, isDue, isUnsigned] },
          },
        },
        { $match: { isOwn: true } },
        { $limit: COUNTED_AT_MOST },
        {
          $group: {
            _id: null,
            count: { $sum: 1 },
            overdue: { $sum: { $cond: ['$isOverdue', 1, 0] } },
            waiting: { $sum: { $cond: ['$isWaiting', 1, 0] } },
            oldest: { $min: '$first_seen' },
          },
        },
      ],
      { maxTimeMS: QUERY_MS },
    )
    .toArray()
  const { oldest = null, ...counts } = found ?? { count: 0, overdue: 0, waiting: 0 }
  const { overdue, waiting } = counts
  return { count: counts.count, overdue, waiting, oldestMs: ageOf(oldest, nowMs) }
}

/**
 * The first operation after the position of the search. If no search has begun, no operation is compared: a reconciler that may not store
 * its position must not look as if it had finished.
 */
async function readUncomparedOperations(db: Db, nowMs: number): Promise<InstallationState['uncomparedOperations']> {
  const search = await db
    .collection<OperationSearchDocument>('operation_search')
    .findOne({ _id: 'changed' }, { projection: { _id: 0, position: 1 }, maxTimeMS: QUERY_MS })
  const first = await db
    .collection<OperationDocument>('operations')
    .findOne(sentAndChangedAfter(search?.position ?? { updated_at: '', operation_id: '' }), {
      sort: { updated_at: 1, _id: 1 },
      projection: { _id: 0, updated_at: 1 },
      maxTimeMS: QUERY_MS,
    })
  return { oldestMs: ageOf(first === null ? null : new Date(first.updated_at), nowMs) }
}

/** One count for each code and state, so that very many incidents of one code do not hide the others. */
async function readIncidents(db: Db): Promise<InstallationState['incidents']> {
  const incidents: InstallationState['incidents'][number][] = []
  for (const state of ['open', 'acknowledged'] as const) {
    for (const code of IncidentCode.options) {
      incidents.push({ code, state, count: await count(db, 'incidents', { state, code }) })
    }
  }
  return incidents.filter(incident => incident.count > 0)
}

async function readConnections(db: Db, nowMs: number): Promise<InstallationState['connections']> {
  const present = { status: { $ne: 'deleted' } }
  const key = 'read_key.created_at'
  const connections = await findFields<ConnectionDocument>(db, 'connections', present, 'kind', 'status', key)
  const ofSweep = ['last_run_at', 'last_error', 'failing_since', 'open_incidents']
  const sweeps = await findFields<SweepDocument>(db, 'sweeps', {}, ...ofSweep)
  const own = connections.filter(({ _id }) => _id !== HEARTBEAT.connectionId)
  const counted = own.map(({ read_key = null, ...connection }) => ({ ...connection, read_key }))
  return summarizeConnections(counted, sweeps, { nowMs, keyRefusedText: KEY_REFUSED_TEXT })
}

/** The dead letters of all collections, like the list of the API. Objects of a provider's answer are in two collections. */
async function readDeadLetters(db: Db, nowMs: number): Promise<InstallationState['deadLetters']> {
  const group = (collection: CollectionName, filter: Document, by: string) =>
    db
      .collection<DeadLetterDocument | InboxDocument>(collection)
      .aggregate<{ _id: string; count: number }>(
        [{ $match: filter }, { $limit: COUNTED_AT_MOST }, { $group: { _id: `$${by}`, count: { $sum: 1 } } }],
        { maxTimeMS: QUERY_MS },
      )
      .toArray()
  const isNotification = { $not: new RegExp(`^${ID_PREFIXES.deadLetter}_`) }
  const letters = await group('dead_letters', { replayed_at: null }, 'topic')
  const inbox = await group('inbox', { outcome: 'parked', event_id: isNotification }, 'provider')
  const deleted = await db
    .collection<ChannelDocument>('channels')
    .find(
      { deleted_at: { $gt: new Date(nowMs - DELETED_CHANNEL_MS) } },
      { projection: { _id: 1 }, limit: COUNTED_AT_MOST, maxTimeMS: QUERY_MS },
    )
    .toArray()
  const ofDeleted = deleted.map(({ _id }) => _id)
  const deliveries = await count(db, 'deliveries', { state: 'dead', test: false, channel_id: { $nin: ofDeleted } })
  return [
    ...letters.map(({ _id, count: letterCount }) => ({ topic: _id, count: letterCount })),
    ...inbox.map(({ _id, count: eventCount }) => ({ topic: INBOUND_TOPICS[_id as ProviderKind], count: eventCount })),
    { topic: 'deliveries', count: deliveries },
  ]
}

async function readDeliveries(db: Db, nowMs: number): Promise<InstallationState['deliveries']> {
  const held = { channel_id: { $nin: await findHeldChannels(db, nowMs) } }
  return {
    pending: await readWaiting(db, { state: 'pending' }, held, nowMs),
    retrying: await readWaiting(db, { state: 'retrying' }, {}, nowMs),
    dead: await readWaiting(db, { state: 'dead', test: false }, {}, nowMs),
  }
}

/** @param aged the deliveries whose age counts, among those of `filter` */
async function readWaiting(db: Db, filter: Document, aged: Document, nowMs: number): Promise<Waiting> {
  const waiting = await count(db, 'deliveries', filter)
  if (waiting === 0) return { count: 0, oldestMs: 0 }
  const oldest = await db
    .collection<DeliveryDocument>('deliveries')
    .findOne(
      { ...filter, ...aged },
      { sort: { created_at: 1 }, projection: { _id: 0, created_at: 1 }, maxTimeMS: QUERY_MS },
    )
  return { count: waiting, oldestMs: ageOf(oldest?.created_at ?? null, nowMs) }
}

async function findHeldChannels(db: Db, nowMs: number): Promise<string[]> {
  const quiet = { quiet_hours: { $type: 'object' } }
  const channels = await findFields<ChannelDocument>(db, 'channels', quiet, 'quiet_hours')
  const held = { held: { $type: 'object' } }
  const health = await findFields<ChannelHealthDocument>(db, 'channel_health', held, 'held')
  return listHeldChannels(channels, health, nowMs)
}

async function readChannels(db: Db): Promise<InstallationState['channels']> {
  const channels = await findFields<ChannelDocument>(db, 'channels', { deleted_at: null }, 'enabled', 'config.kind')
  const ofHealth = ['disabled_at', 'failing_since', 'undelivered_since', 'unreached', 'failing_incident_id']
  const health = await findFields<ChannelHealthDocument>(db, 'channel_health', {}, ...ofHealth)
  const own = channels.filter(({ _id }) => _id !== HEARTBEAT.channelId)
  return summarizeChannels(
    own.map(({ _id, enabled, config }) => ({ _id, enabled, kind: config.kind })),
    health,
  )
}

/** The path of the time of an outbox entry in the documents of each collection with outboxes, and the smallest value of its type. */
const OUTBOXES = {
  subjects: { path: 'current.outbox.at', least: 0 },
  incidents: { path: 'outbox.at', least: 0 },
  operations: { path: 'outbox_at', least: new Date(0) },
  failed_runs: { path: 'outbox.at', least: 0 },
  channel_health: { path: 'outbox.at', least: 0 },
  storms: { path: 'outbox.at', least: 0 },
} as const satisfies Partial<Record<CollectionName, { path: string; least: number | Date }>>

async function readOutboxes(db: Db, nowMs: number): Promise<InstallationState['outboxes']> {
  const outboxes: (Waiting & { collection: string })[] = []
  for (const [name, { path, least }] of Object.entries(OUTBOXES)) {
    const collection = name as keyof typeof OUTBOXES
    const filter = { [path]: { $gt: least } }
    const documents = await count(db, collection, filter)
    const [oldest] =
      documents === 0
        ? []
        : await db
            .collection(collection)
            .find(filter, { sort: { [path]: 1 }, limit: 1, projection: { _id: 0, [path]: 1 }, maxTimeMS: QUERY_MS })
            .toArray()
    outboxes.push({ collection, count: documents, oldestMs: ageOf(leastTime(oldest), nowMs) })
  }
  return outboxes
}

/** The earliest time anywhere in a projected document; null if there is none. */
function leastTime(value: unknown): Date | null {
  if (value instanceof Date) return value
  if (typeof value === 'number') return new Date(value)
  if (typeof value !== 'object' || value === null) return null
  const times = Object.values(value).flatMap(inner => leastTime(inner)?.getTime() ?? [])
  return times.length === 0 ? null : new Date(Math.min(...times))
}

function ageOf(since: Date | null, nowMs: number): number {
  return since === null ? 0 : Math.max(0, nowMs - since.getTime())
}
