import type { ChannelDocument } from '@backstop/channels'
import type * as contracts from '@backstop/contracts'
import { AppError } from '@backstop/kit/errors'
import { asUnavailable } from '@backstop/kit/mongo'
import { type ClientSession, type Db, MongoServerError } from 'mongodb'
import type { Collection, ReadCollection, StoredDocument } from './collection.ts'
import { createMongoCollection } from './mongo-collection.ts'

/** The record of a POST with an Idempotency-Key, kept for 24 hours. */
export interface IdempotencyDocument {
  /** `<key id>/<Idempotency-Key>` */
  _id: string
  /** Keyed hash over method, path and body. It distinguishes requests without revealing their content. */
  fingerprint: string
  /** The ids that the request makes are derived from this seed, so a repeat after a crash creates nothing twice. */
  seed: string
  /** Until this time, only the request that holds the lock may run. */
  locked_until: Date
  /** The results of `RouteRequest.decideOnce` as JSON. Absent before the decision. */
  decided?: string
  /** The answer without its secrets; null until the request ends. */
  answer: { status: number; body: string } | null
  created_at: Date
}

type Open<C> = (db: Db, session?: ClientSession) => C

/** A collection that this service writes. */
function own<D extends StoredDocument>(name: contracts.CollectionName): Open<Collection<D>> {
  return (db, session) => createMongoCollection(db, name, session)
}

/** A collection that another service owns. It is only read here. */
function foreign<D extends StoredDocument>(name: contracts.CollectionName): Open<ReadCollection<D>> {
  return own(name)
}

const COLLECTIONS = {
  projects: own<contracts.ProjectDocument>('projects'),
  connections: own<contracts.ConnectionDocument>('connections'),
  channels: own<ChannelDocument>('channels'),
  apiKeys: own<contracts.ApiKeyDocument>('api_keys'),
  people: own<contracts.PersonDocument>('people'),
  sessions: own<contracts.SessionDocument>('sessions'),
  signInLinks: own<contracts.SignInLinkDocument>('sign_in_links'),
  audit: own<contracts.AuditDocument>('audit'),
  auditChain: own<contracts.AuditChainDocument>('audit_chain'),
  heartbeat: own<contracts.HeartbeatDocument>('heartbeat'),
  uptimes: own<contracts.UptimeDocument>('uptimes'),
  idempotencyKeys: own<IdempotencyDocument>('idempotency_keys'),
  replayRequests: own<contracts.ReplayRequestDocument>('replay_requests'),
  inboxReplayRequests: own<contracts.InboxReplayRequestDocument>('inbox_replay_requests'),
  personErasures: own<contracts.PersonErasureDocument>('person_erasures'),
  expectedChanges: own<contracts.ExpectedChangeDocument>('expected_changes'),
  silences: own<contracts.SilenceDocument>('silences'),
  actors: own<contracts.ActorDocument>('actors'),
  // Owner: reconciler.
  inbox: foreign<contracts.InboxDocument>('inbox'),
  inboxBodies: foreign<contracts.InboxBodyDocument>('inbox_bodies'),
  inboxReplays: foreign<contracts.InboxReplayDocument>('inbox_replays'),
  sweeps: foreign<contracts.SweepDocument>('sweeps'),
  sweepDays: foreign<contracts.SweepDayDocument>('sweep_days'),
  dailyTotals: foreign<contracts.DailyTotalsDocument>('daily_totals'),
  projectTotals: foreign<contracts.ProjectTotalsDocument>('project_totals'),
  erasures: foreign<contracts.ErasureDocument>('erasures'),
  actions: foreign<contracts.ActionDocument>('actions'),
  archivedActions: foreign<contracts.ArchivedActionDocument>('archived_actions'),
  incidents: foreign<contracts.IncidentDocument>('incidents'),
  incidentOutcomes: foreign<contracts.IncidentOutcomeDocument>('incident_outcomes'),
  incidentBulks: foreign<contracts.IncidentBulkDocument>('incident_bulks'),
  expectedChangeUses: foreign<contracts.ExpectedChangeUsesDocument>('expected_change_uses'),
  // Owner: notifier.
  deliveries: foreign<contracts.DeliveryDocument>('deliveries'),
  deliveryErasures: foreign<contracts.DeliveryErasureDocument>('delivery_erasures'),
  channelHealth: foreign<contracts.ChannelHealthDocument>('channel_health'),
  replays: foreign<contracts.ReplayDocument>('replays'),
  stormMembers: foreign<contracts.StormMemberDocument>('storm_members'),
  storms: foreign<contracts.StormDocument>('storms'),
  suppressions: foreign<contracts.SuppressionDocument>('suppressions'),
  deadLetters: foreign<contracts.DeadLetterDocument>('dead_letters'),
  // Owner: each process of a service, by packages/kit.
  processes: foreign<contracts.ProcessDocument>('processes'),
}

/** All collections that the API uses. */
export type AdminCollections = {
  readonly [Name in keyof typeof COLLECTIONS]: ReturnType<(typeof COLLECTIONS)[Name]>
}

/** The collections for reading. Changes go through `AdminStores.transaction`. */
export type ReadCollections = {
  readonly [Name in keyof AdminCollections]: AdminCollections[Name] extends ReadCollection<infer D>
    ? ReadCollection<D>
    : never
}

/** The collections, and transactions over several of them. */
export interface AdminStores extends AdminCollections {
  /**
   * Runs `write` in a transaction: all of its writes are stored, or none if it throws.
   * @param write may run several times after a concurrent change, so it only reads and writes the given collections. It looks up a
   * document that may exist before it inserts, because a duplicate id aborts the transaction.
   * @throws AppError `unavailable` if nothing was changed and the caller may retry; any error of `write`. If only the answer of MongoDB
   * to the commit was lost, the change may be stored although this throws.
   */
  transaction<T>(write: (collections: AdminCollections) => Promise<T>): Promise<T>
}

/** How long a transaction is retried after concurrent changes or while MongoDB is unavailable, in milliseconds. */
const TRANSACTION_MS = 10_000

/** The stores over one MongoDB database. */
export function createMongoStores(db: Db): AdminStores {
  return {
    ...mongoCollections(db),
    transaction: write => refusalsAsUnavailable(() => inTransaction(db, write)),
  }
}

function inTransaction<T>(db: Db, write: (collections: AdminCollections) => Promise<T>): Promise<T> {
  return db.client.withSession(session =>
    session.withTransaction(() => write(mongoCollections(db, session)), {
      readConcern: { level: 'snapshot' },
      timeoutMS: TRANSACTION_MS,
    }),
  )
}

/** Reports a document that MongoDB refuses as `unavailable`: the whole transaction is undone, and the caller may retry later. */
async function refusalsAsUnavailable<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await asUnavailable(call)
  } catch (error) {
    if (!(error instanceof MongoServerError)) throw error
    const message = 'MongoDB refused the change or its audit row; nothing was changed, retry later'
    throw new AppError('unavailable', message, { cause: error, retryable: true })
  }
}

function mongoCollections(db: Db, session?: ClientSession): AdminCollections {
  const opened = Object.entries(COLLECTIONS).map(([name, open]) => [name, open(db, session)])
  return Object.fromEntries(opened)
}
