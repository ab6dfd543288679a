import type { ChannelDocument } from '@backstop/channels'
import type {
  ActionDocument,
  ApiKeyDocument,
  AuditDocument,
  ChannelHealthDocument,
  ConnectionDocument,
  DeadLetterDocument,
  DeliveryDocument,
  ExpectedChangeDocument,
  ExpectedChangeUsesDocument,
  InboxBodyDocument,
  InboxDocument,
  IncidentDocument,
  ProjectDocument,
  ReplayDocument,
  ReplayRequestDocument,
  SuppressionDocument,
  SweepDocument,
} from '@backstop/contracts'
import { AppError, asUnavailable } from '@backstop/kit'
import { type ClientSession, type Db, MongoServerError } from 'mongodb'
import { createMongoShelf } from './mongo-shelf.ts'
import type { ReadShelf, Shelf } from './shelf.ts'

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
export interface AdminShelves {
  readonly projects: Shelf<ProjectDocument>
  readonly connections: Shelf<ConnectionDocument>
  readonly channels: Shelf<ChannelDocument>
  readonly apiKeys: Shelf<ApiKeyDocument>
  readonly audit: Shelf<AuditDocument>
  readonly idempotencyKeys: Shelf<IdempotencyDocument>
  readonly replayRequests: Shelf<ReplayRequestDocument>
  readonly expectedChanges: Shelf<ExpectedChangeDocument>
  /** Owner: reconciler. */
  readonly inbox: ReadShelf<InboxDocument>
  /** Owner: reconciler. */
  readonly inboxBodies: ReadShelf<InboxBodyDocument>
  /** Owner: reconciler. */
  readonly sweeps: ReadShelf<SweepDocument>
  /** Owner: reconciler. */
  readonly actions: ReadShelf<ActionDocument>
  /** Owner: reconciler. */
  readonly incidents: ReadShelf<IncidentDocument>
  /** Owner: reconciler. */
  readonly expectedChangeUses: ReadShelf<ExpectedChangeUsesDocument>
  /** Owner: notifier. */
  readonly deliveries: ReadShelf<DeliveryDocument>
  /** Owner: notifier. */
  readonly channelHealth: ReadShelf<ChannelHealthDocument>
  /** Owner: notifier. */
  readonly replays: ReadShelf<ReplayDocument>
  /** Owner: notifier. */
  readonly suppressions: ReadShelf<SuppressionDocument>
  /** Owner: notifier. */
  readonly deadLetters: ReadShelf<DeadLetterDocument>
}

/** The collections for reading. Changes go through `AdminStores.together`. */
export type ReadShelves = {
  readonly [Name in keyof AdminShelves]: AdminShelves[Name] extends ReadShelf<infer D> ? ReadShelf<D> : never
}

/** The collections, and transactions over several of them. */
export interface AdminStores extends AdminShelves {
  /**
   * Runs `write` in a transaction: all of its writes are stored, or none if it throws.
   * @param write may run several times after a concurrent change, so it only reads and writes the given collections. It looks up a
   * document that may exist before it inserts, because a duplicate id aborts the transaction.
   * @throws AppError `unavailable` if nothing was changed and the caller may retry; any error of `write`. If only the answer of MongoDB
   * to the commit was lost, the change may be stored although this throws.
   */
  together<T>(write: (shelves: AdminShelves) => Promise<T>): Promise<T>
}

/** How long a transaction is retried after concurrent changes or while MongoDB is unavailable, in milliseconds. */
const TOGETHER_MS = 10_000

/** The stores over one MongoDB database. */
export function createMongoStores(db: Db): AdminStores {
  return {
    ...mongoShelves(db),
    together: write => refusedAsUnavailable(() => inTransaction(db, write)),
  }
}

function inTransaction<T>(db: Db, write: (shelves: AdminShelves) => Promise<T>): Promise<T> {
  return db.client.withSession(session =>
    session.withTransaction(() => write(mongoShelves(db, session)), {
      readConcern: { level: 'snapshot' },
      timeoutMS: TOGETHER_MS,
    }),
  )
}

/** Reports a document that MongoDB refuses as `unavailable`: the whole transaction is undone, and the caller may retry later. */
async function refusedAsUnavailable<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await asUnavailable(call)
  } catch (error) {
    if (!(error instanceof MongoServerError)) throw error
    const message = 'MongoDB refused the change or its audit row; nothing was changed, retry later'
    throw new AppError('unavailable', message, { cause: error, retryable: true })
  }
}

function mongoShelves(db: Db, session?: ClientSession): AdminShelves {
  return {
    projects: createMongoShelf(db, 'projects', session),
    connections: createMongoShelf(db, 'connections', session),
    channels: createMongoShelf(db, 'channels', session),
    apiKeys: createMongoShelf(db, 'api_keys', session),
    audit: createMongoShelf(db, 'audit', session),
    idempotencyKeys: createMongoShelf(db, 'idempotency_keys', session),
    replayRequests: createMongoShelf(db, 'replay_requests', session),
    expectedChanges: createMongoShelf(db, 'expected_changes', session),
    inbox: createMongoShelf(db, 'inbox', session),
    inboxBodies: createMongoShelf(db, 'inbox_bodies', session),
    sweeps: createMongoShelf(db, 'sweeps', session),
    expectedChangeUses: createMongoShelf(db, 'expected_change_uses', session),
    actions: createMongoShelf(db, 'actions', session),
    incidents: createMongoShelf(db, 'incidents', session),
    deliveries: createMongoShelf(db, 'deliveries', session),
    channelHealth: createMongoShelf(db, 'channel_health', session),
    replays: createMongoShelf(db, 'replays', session),
    suppressions: createMongoShelf(db, 'suppressions', session),
    deadLetters: createMongoShelf(db, 'dead_letters', session),
  }
}
