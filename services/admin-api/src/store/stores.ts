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

/** What is kept of a POST that carried an Idempotency-Key, for 24 hours. */
export interface IdempotencyDocument {
  /** `<key id>/<Idempotency-Key>` */
  _id: string
  /** Keyed hash over method, path and body: tells another request from the same one, and shows neither. */
  fingerprint: string
  /** Ids that the request makes follow from this, so that a repeat after a crash makes nothing twice. */
  seed: string
  /** Who holds it may work on it until then. */
  locked_until: Date
  /** The answer, without its secrets; null while there is none. */
  answer: { status: number; body: string } | null
  created_at: Date
}

/** Every shelf there is: what admin-api keeps, and what it reads of others. Of those it gets no way to write. */
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

/** The shelves to read of alone: whoever changes anything does so by `AdminStores.together`. */
export type ReadShelves = {
  readonly [Name in keyof AdminShelves]: AdminShelves[Name] extends ReadShelf<infer D> ? ReadShelf<D> : never
}

/** The shelves, and a way to change several of them in one step. */
export interface AdminStores extends AdminShelves {
  /**
   * All that is written to the given shelves stands, or nothing of it when this throws.
   * @param write may be run again from its beginning, when somebody else changed the same: it does nothing but read and write
   * the shelves it is given, and a document that is there already is looked for, not inserted in vain
   * @throws AppError `unavailable` when nothing was changed and the caller may try again; whatever `write` throws. Where only
   * MongoDB's word about the end was lost, all of it may stand all the same.
   */
  together<T>(write: (shelves: AdminShelves) => Promise<T>): Promise<T>
}

/** How long a change is run again that others keep coming between, or that finds MongoDB away, in milliseconds. */
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

/** A document that MongoDB refuses undoes the whole change, so that it may be tried again, once MongoDB takes it. */
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
