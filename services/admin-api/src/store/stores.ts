import type {
  ActionDocument,
  ApiKeyDocument,
  AuditDocument,
  ChannelDocument,
  ChannelHealthDocument,
  ConnectionDocument,
  DeadLetterDocument,
  DeliveryDocument,
  ExpectedChangeDocument,
  InboxBodyDocument,
  InboxDocument,
  IncidentDocument,
  ProjectDocument,
  ReplayDocument,
  ReplayRequestDocument,
  SuppressionDocument,
  SweepDocument,
} from '@backstop/contracts'
import type { Db } from 'mongodb'
import { createMemoryShelf } from './memory-shelf.ts'
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

/** Everything that admin-api keeps, and what it reads of others: of those it gets no way to write. */
export interface AdminStores {
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

/** The stores over one MongoDB database. */
export function createMongoStores(db: Db): AdminStores {
  return {
    projects: createMongoShelf(db, 'projects'),
    connections: createMongoShelf(db, 'connections'),
    channels: createMongoShelf(db, 'channels'),
    apiKeys: createMongoShelf(db, 'api_keys'),
    audit: createMongoShelf(db, 'audit'),
    idempotencyKeys: createMongoShelf(db, 'idempotency_keys'),
    replayRequests: createMongoShelf(db, 'replay_requests'),
    expectedChanges: createMongoShelf(db, 'expected_changes'),
    inbox: createMongoShelf(db, 'inbox'),
    inboxBodies: createMongoShelf(db, 'inbox_bodies'),
    sweeps: createMongoShelf(db, 'sweeps'),
    actions: createMongoShelf(db, 'actions'),
    incidents: createMongoShelf(db, 'incidents'),
    deliveries: createMongoShelf(db, 'deliveries'),
    channelHealth: createMongoShelf(db, 'channel_health'),
    replays: createMongoShelf(db, 'replays'),
    suppressions: createMongoShelf(db, 'suppressions'),
    deadLetters: createMongoShelf(db, 'dead_letters'),
  }
}

/** What others keep, as shelves that a test or a simulation fills in their stead. */
export interface MemoryStores extends AdminStores {
  readonly inbox: Shelf<InboxDocument>
  readonly inboxBodies: Shelf<InboxBodyDocument>
  readonly sweeps: Shelf<SweepDocument>
  readonly actions: Shelf<ActionDocument>
  readonly incidents: Shelf<IncidentDocument>
  readonly deliveries: Shelf<DeliveryDocument>
  readonly channelHealth: Shelf<ChannelHealthDocument>
  readonly replays: Shelf<ReplayDocument>
  readonly suppressions: Shelf<SuppressionDocument>
  readonly deadLetters: Shelf<DeadLetterDocument>
}

/** The stores in memory. */
export function createMemoryStores(): MemoryStores {
  return {
    projects: createMemoryShelf(),
    connections: createMemoryShelf(),
    channels: createMemoryShelf(),
    apiKeys: createMemoryShelf(['hash']),
    audit: createMemoryShelf(),
    idempotencyKeys: createMemoryShelf(),
    replayRequests: createMemoryShelf(),
    expectedChanges: createMemoryShelf(),
    inbox: createMemoryShelf(),
    inboxBodies: createMemoryShelf(),
    sweeps: createMemoryShelf(),
    actions: createMemoryShelf(),
    incidents: createMemoryShelf(),
    deliveries: createMemoryShelf(),
    channelHealth: createMemoryShelf(),
    replays: createMemoryShelf(),
    suppressions: createMemoryShelf(),
    deadLetters: createMemoryShelf(),
  }
}
