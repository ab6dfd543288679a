import type { ChannelDocument } from '@backstop/channels'
import type {
  ActionDocument,
  ApiKeyDocument,
  AuditChainDocument,
  AuditDocument,
  ChannelHealthDocument,
  ConnectionDocument,
  DailyTotalsDocument,
  DeadLetterDocument,
  DeliveryDocument,
  ErasureDocument,
  ExpectedChangeDocument,
  ExpectedChangeUsesDocument,
  HeartbeatDocument,
  InboxBodyDocument,
  InboxDocument,
  InboxReplayDocument,
  InboxReplayRequestDocument,
  IncidentBulkDocument,
  IncidentDocument,
  IncidentOutcomeDocument,
  PersonDocument,
  ProcessDocument,
  ProjectDocument,
  ProjectTotalsDocument,
  ReplayDocument,
  ReplayRequestDocument,
  SessionDocument,
  SignInLinkDocument,
  SilenceDocument,
  StormDocument,
  StormMemberDocument,
  SuppressionDocument,
  SweepDocument,
} from '@backstop/contracts'
import { AppError } from '@backstop/kit/errors'
import { asUnavailable } from '@backstop/kit/mongo'
import { type ClientSession, type Db, MongoServerError } from 'mongodb'
import type { Collection, ReadCollection } from './collection.ts'
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
  /** The answer without its secrets; null until the request ends. */
  answer: { status: number; body: string } | null
  created_at: Date
}

/** All collections that the API uses. Collections that other services own are read-only. */
export interface AdminCollections {
  readonly projects: Collection<ProjectDocument>
  readonly connections: Collection<ConnectionDocument>
  readonly channels: Collection<ChannelDocument>
  readonly apiKeys: Collection<ApiKeyDocument>
  readonly people: Collection<PersonDocument>
  readonly sessions: Collection<SessionDocument>
  readonly signInLinks: Collection<SignInLinkDocument>
  readonly audit: Collection<AuditDocument>
  readonly auditChain: Collection<AuditChainDocument>
  readonly heartbeat: Collection<HeartbeatDocument>
  readonly idempotencyKeys: Collection<IdempotencyDocument>
  readonly replayRequests: Collection<ReplayRequestDocument>
  readonly inboxReplayRequests: Collection<InboxReplayRequestDocument>
  readonly expectedChanges: Collection<ExpectedChangeDocument>
  readonly silences: Collection<SilenceDocument>
  /** Owner: reconciler. */
  readonly inbox: ReadCollection<InboxDocument>
  /** Owner: reconciler. */
  readonly inboxBodies: ReadCollection<InboxBodyDocument>
  /** Owner: reconciler. */
  readonly inboxReplays: ReadCollection<InboxReplayDocument>
  /** Owner: reconciler. */
  readonly sweeps: ReadCollection<SweepDocument>
  /** Owner: reconciler. */
  readonly dailyTotals: ReadCollection<DailyTotalsDocument>
  /** Owner: reconciler. */
  readonly projectTotals: ReadCollection<ProjectTotalsDocument>
  /** Owner: reconciler. */
  readonly erasures: ReadCollection<ErasureDocument>
  /** Owner: reconciler. */
  readonly actions: ReadCollection<ActionDocument>
  /** Owner: reconciler. */
  readonly incidents: ReadCollection<IncidentDocument>
  /** Owner: reconciler. */
  readonly incidentOutcomes: ReadCollection<IncidentOutcomeDocument>
  /** Owner: reconciler. */
  readonly incidentBulks: ReadCollection<IncidentBulkDocument>
  /** Owner: reconciler. */
  readonly expectedChangeUses: ReadCollection<ExpectedChangeUsesDocument>
  /** Owner: notifier. */
  readonly deliveries: ReadCollection<DeliveryDocument>
  /** Owner: notifier. */
  readonly channelHealth: ReadCollection<ChannelHealthDocument>
  /** Owner: notifier. */
  readonly replays: ReadCollection<ReplayDocument>
  /** Owner: notifier. */
  readonly stormMembers: ReadCollection<StormMemberDocument>
  /** Owner: notifier. */
  readonly storms: ReadCollection<StormDocument>
  /** Owner: notifier. */
  readonly suppressions: ReadCollection<SuppressionDocument>
  /** Owner: notifier. */
  readonly deadLetters: ReadCollection<DeadLetterDocument>
  /** Owner: each process of a service, by packages/kit. */
  readonly processes: ReadCollection<ProcessDocument>
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
  return {
    projects: createMongoCollection(db, 'projects', session),
    connections: createMongoCollection(db, 'connections', session),
    channels: createMongoCollection(db, 'channels', session),
    apiKeys: createMongoCollection(db, 'api_keys', session),
    people: createMongoCollection(db, 'people', session),
    sessions: createMongoCollection(db, 'sessions', session),
    signInLinks: createMongoCollection(db, 'sign_in_links', session),
    audit: createMongoCollection(db, 'audit', session),
    auditChain: createMongoCollection(db, 'audit_chain', session),
    heartbeat: createMongoCollection(db, 'heartbeat', session),
    idempotencyKeys: createMongoCollection(db, 'idempotency_keys', session),
    replayRequests: createMongoCollection(db, 'replay_requests', session),
    inboxReplayRequests: createMongoCollection(db, 'inbox_replay_requests', session),
    expectedChanges: createMongoCollection(db, 'expected_changes', session),
    silences: createMongoCollection(db, 'silences', session),
    inbox: createMongoCollection(db, 'inbox', session),
    inboxBodies: createMongoCollection(db, 'inbox_bodies', session),
    inboxReplays: createMongoCollection(db, 'inbox_replays', session),
    sweeps: createMongoCollection(db, 'sweeps', session),
    dailyTotals: createMongoCollection(db, 'daily_totals', session),
    projectTotals: createMongoCollection(db, 'project_totals', session),
    erasures: createMongoCollection(db, 'erasures', session),
    expectedChangeUses: createMongoCollection(db, 'expected_change_uses', session),
    actions: createMongoCollection(db, 'actions', session),
    incidents: createMongoCollection(db, 'incidents', session),
    incidentOutcomes: createMongoCollection(db, 'incident_outcomes', session),
    incidentBulks: createMongoCollection(db, 'incident_bulks', session),
    deliveries: createMongoCollection(db, 'deliveries', session),
    channelHealth: createMongoCollection(db, 'channel_health', session),
    replays: createMongoCollection(db, 'replays', session),
    stormMembers: createMongoCollection(db, 'storm_members', session),
    storms: createMongoCollection(db, 'storms', session),
    suppressions: createMongoCollection(db, 'suppressions', session),
    deadLetters: createMongoCollection(db, 'dead_letters', session),
    processes: createMongoCollection(db, 'processes', session),
  }
}
