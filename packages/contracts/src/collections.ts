import type { CreateIndexesOptions, IndexSpecification } from 'mongodb'

/** One MongoDB collection as the deploy job creates it. */
export interface CollectionDefinition {
  /** The only service, package or job that writes the collection. */
  readonly owner: 'admin-api' | 'reconciler' | 'notifier' | 'ledger' | 'provision'
  readonly indexes: readonly { keys: IndexSpecification; options?: CreateIndexesOptions }[]
}

const DAY_S = 86_400

/** How long deliveries are kept, with the copies of their alerts. */
export const DELIVERY_DAYS = 90
/**
 * How long the personal data of an action is kept after it was first seen. An alert contains it only in the first half of
 * this time, so that no delivery is kept longer.
 */
export const PERSONAL_DATA_DAYS = 2 * DELIVERY_DAYS

/** Every collection with its owner and its indexes. A TTL index is the retention time of its documents. */
export const COLLECTIONS = {
  projects: { owner: 'admin-api', indexes: [{ keys: { created_at: -1, _id: -1 } }] },
  connections: { owner: 'admin-api', indexes: [{ keys: { project_id: 1, created_at: -1, _id: -1 } }] },
  channels: {
    owner: 'admin-api',
    indexes: [{ keys: { project_id: 1, created_at: -1, _id: -1 } }, { keys: { created_at: -1, _id: -1 } }],
  },
  api_keys: {
    owner: 'admin-api',
    indexes: [{ keys: { hash: 1 }, options: { unique: true } }, { keys: { created_at: -1, _id: -1 } }],
  },
  audit: {
    owner: 'admin-api',
    indexes: [
      { keys: { at: 1 }, options: { expireAfterSeconds: 400 * DAY_S } },
      { keys: { project_id: 1, at: -1, _id: -1 } },
      { keys: { target: 1, at: -1, _id: -1 } },
      { keys: { at: -1, _id: -1 } },
    ],
  },
  idempotency_keys: {
    owner: 'admin-api',
    indexes: [{ keys: { created_at: 1 }, options: { expireAfterSeconds: DAY_S } }],
  },
  replay_requests: {
    owner: 'admin-api',
    indexes: [
      { keys: { project_id: 1, requested_at: -1, _id: -1 } },
      { keys: { requested_at: -1, _id: -1 } },
      { keys: { requested_at: 1 }, options: { expireAfterSeconds: 90 * DAY_S } },
    ],
  },
  operations: {
    owner: 'ledger',
    indexes: [
      { keys: { refs: 1 } },
      { keys: { project_id: 1, created_at: -1, _id: -1 } },
      { keys: { connection_id: 1, created_at: -1, _id: -1 } },
      { keys: { created_at: -1, _id: -1 } },
      {
        keys: { connection_id: 1, idempotency_key: 1 },
        options: { unique: true, partialFilterExpression: { idempotency_key: { $type: 'string' } } },
      },
      {
        keys: { run_id: 1, created_at: -1, _id: -1 },
        options: { partialFilterExpression: { run_id: { $type: 'string' } } },
      },
      { keys: { outbox_at: 1 }, options: { sparse: true } },
      { keys: { timer_at: 1 }, options: { sparse: true } },
    ],
  },
  first_executions: { owner: 'ledger', indexes: [] },
  budgets: {
    owner: 'ledger',
    indexes: [{ keys: { project_id: 1, created_at: -1, _id: -1 } }, { keys: { created_at: -1, _id: -1 } }],
  },
  budget_periods: {
    owner: 'ledger',
    indexes: [{ keys: { ends_at: 1 }, options: { expireAfterSeconds: 400 * DAY_S } }],
  },
  failed_runs: {
    owner: 'ledger',
    indexes: [
      { keys: { project_id: 1, reported_at: -1, _id: -1 } },
      { keys: { reported_at: -1, _id: -1 } },
      { keys: { run_id: 1 } },
      { keys: { 'outbox.at': 1 }, options: { sparse: true } },
    ],
  },
  subjects: {
    owner: 'reconciler',
    indexes: [
      // Unique, because a reference belongs to one case only.
      { keys: { 'current.refs': 1 }, options: { unique: true } },
      { keys: { 'current.outbox.at': 1 }, options: { sparse: true } },
      { keys: { 'current.nextLookAt': 1 }, options: { sparse: true } },
      { keys: { 'current.personalUntil': 1 }, options: { sparse: true } },
      // For the erasure of a deleted connection, which reads the cases of its project in pages.
      { keys: { project_id: 1, _id: 1 } },
    ],
  },
  actions: {
    owner: 'reconciler',
    indexes: [
      { keys: { project_id: 1, first_seen: -1, _id: -1 } },
      { keys: { connection_ids: 1, first_seen: -1, _id: -1 } },
      { keys: { first_seen: -1, _id: -1 } },
    ],
  },
  incidents: {
    owner: 'reconciler',
    indexes: [
      { keys: { project_id: 1, state: 1, opened: -1, _id: -1 } },
      { keys: { state: 1, opened: -1, _id: -1 } },
      { keys: { 'outbox.at': 1 }, options: { sparse: true } },
    ],
  },
  inbox: {
    owner: 'reconciler',
    indexes: [
      { keys: { received_at: 1 }, options: { expireAfterSeconds: 400 * DAY_S } },
      { keys: { project_id: 1, received_at: -1, _id: -1 } },
      { keys: { received_at: -1, _id: -1 } },
      { keys: { connection_id: 1, outcome: 1, received_at: 1, _id: 1 } },
    ],
  },
  inbox_bodies: {
    owner: 'reconciler',
    indexes: [{ keys: { received_at: 1 }, options: { expireAfterSeconds: 14 * DAY_S } }],
  },
  erasures: { owner: 'reconciler', indexes: [] },
  sweeps: { owner: 'reconciler', indexes: [{ keys: { next_run_at: 1 } }] },
  expected_changes: {
    owner: 'admin-api',
    indexes: [
      // The reconciler finds expected changes by these fields.
      { keys: { project_id: 1, subject: 1, expires_at: -1 } },
      { keys: { project_id: 1, created_at: -1, _id: -1 } },
      { keys: { created_at: -1, _id: -1 } },
      { keys: { expires_at: 1 }, options: { expireAfterSeconds: 400 * DAY_S } },
    ],
  },
  silences: {
    owner: 'admin-api',
    indexes: [
      // The notifier finds silences by these fields.
      { keys: { connection_id: 1, ends_at: 1 } },
      { keys: { project_id: 1, created_at: -1, _id: -1 } },
      { keys: { created_at: -1, _id: -1 } },
      { keys: { ends_at: 1 }, options: { expireAfterSeconds: 400 * DAY_S } },
    ],
  },
  expected_change_uses: {
    owner: 'reconciler',
    indexes: [{ keys: { expires_at: 1 }, options: { expireAfterSeconds: 400 * DAY_S } }],
  },
  deliveries: {
    owner: 'notifier',
    indexes: [
      { keys: { project_id: 1, created_at: -1, _id: -1 } },
      { keys: { alert_id: 1 } },
      { keys: { channel_id: 1, created_at: 1, _id: 1 } },
      { keys: { created_at: -1, _id: -1 } },
      // A partial index, because few of very many deliveries are dead.
      {
        keys: { project_id: 1, state: 1, created_at: -1, _id: -1 },
        options: { partialFilterExpression: { state: 'dead' } },
      },
      { keys: { state: 1, created_at: -1, _id: -1 }, options: { partialFilterExpression: { state: 'dead' } } },
      { keys: { created_at: 1 }, options: { expireAfterSeconds: DELIVERY_DAYS * DAY_S } },
    ],
  },
  channel_health: { owner: 'notifier', indexes: [{ keys: { 'outbox.at': 1 }, options: { sparse: true } }] },
  storms: {
    owner: 'notifier',
    indexes: [
      // Unique, because a connection has one open storm at most.
      {
        keys: { connection_id: 1 },
        options: { unique: true, partialFilterExpression: { state: 'open' } },
      },
      { keys: { next_look_at: 1 }, options: { sparse: true } },
      { keys: { 'outbox.at': 1 }, options: { sparse: true } },
      { keys: { began_at: 1 }, options: { expireAfterSeconds: 90 * DAY_S } },
    ],
  },
  storm_members: {
    owner: 'notifier',
    indexes: [
      // For the members of a connection without a storm, and for all members of a storm.
      { keys: { connection_id: 1, storm_id: 1, opened_at: 1 } },
      { keys: { recorded_at: 1 }, options: { expireAfterSeconds: 90 * DAY_S } },
    ],
  },
  suppressions: {
    owner: 'notifier',
    indexes: [{ keys: { project_id: 1, suppressed_at: -1, _id: -1 } }, { keys: { suppressed_at: -1, _id: -1 } }],
  },
  dead_letters: {
    owner: 'notifier',
    indexes: [
      { keys: { parked_at: -1, _id: -1 } },
      // The same retention time as the topic's.
      { keys: { parked_at: 1 }, options: { expireAfterSeconds: 30 * DAY_S } },
    ],
  },
  replays: {
    owner: 'notifier',
    indexes: [
      { keys: { requested_at: 1 }, options: { expireAfterSeconds: 90 * DAY_S } },
      { keys: { state: 1, next_page_at: 1 } },
    ],
  },
  schema_ids: { owner: 'provision', indexes: [] },
} as const satisfies Record<string, CollectionDefinition>

/** The name of a collection. */
export type CollectionName = keyof typeof COLLECTIONS
