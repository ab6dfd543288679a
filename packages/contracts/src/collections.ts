import { type CollectionDefinition, DAY_S } from './collection-definition.ts'
import { NOTIFIER_COLLECTIONS } from './notifier-collections.ts'
import { RECONCILER_COLLECTIONS } from './reconciler-collections.ts'

export {
  type CollectionDefinition,
  DELIVERY_DAYS,
  LARGE_COLLECTION,
  PERSONAL_DATA_DAYS,
} from './collection-definition.ts'

/** Every collection with its owner and its indexes. A TTL index is the retention time of its documents. */
export const COLLECTIONS = {
  projects: {
    owner: 'admin-api',
    indexes: [
      { keys: { created_at: -1, _id: -1 } },
      // For the reconciler, which reads the names of the projects of each batch.
      { keys: { _id: 1, name: 1 } },
    ],
  },
  actors: {
    owner: 'admin-api',
    indexes: [
      { keys: { project_id: 1, created_at: -1, _id: -1 } },
      // For the reconciler, which reads what changed.
      { keys: { updated_at: 1 } },
    ],
  },
  connections: {
    owner: 'admin-api',
    indexes: [
      { keys: { project_id: 1, created_at: -1, _id: -1 } },
      // For the reconciler, which asks with each batch whether the connections that it knows have changed.
      { keys: { _id: 1, version: 1, updated_at: 1 } },
    ],
  },
  channels: {
    owner: 'admin-api',
    indexes: [{ keys: { project_id: 1, created_at: -1, _id: -1 } }, { keys: { created_at: -1, _id: -1 } }],
  },
  api_keys: {
    owner: 'admin-api',
    indexes: [
      { keys: { hash: 1 }, options: { unique: true } },
      { keys: { previous_hash: 1 }, options: { partialFilterExpression: { previous_hash: { $type: 'string' } } } },
      { keys: { project_id: 1, created_at: -1, _id: -1 } },
      { keys: { created_at: -1, _id: -1 } },
      // For the keys that expire soon.
      { keys: { revoked_at: 1, expires_at: -1, _id: -1 } },
      { keys: { warned_expiry: -1, _id: -1 } },
    ],
  },
  people: {
    owner: 'admin-api',
    indexes: [
      {
        keys: { issuer: 1, subject: 1 },
        options: { unique: true, partialFilterExpression: { issuer: { $type: 'string' } } },
      },
      { keys: { project_ids: 1, created_at: -1, _id: -1 } },
      { keys: { created_at: -1, _id: -1 } },
    ],
  },
  sessions: {
    owner: 'admin-api',
    indexes: [
      { keys: { hash: 1 }, options: { unique: true } },
      { keys: { principal_id: 1, created_at: -1, _id: -1 } },
      { keys: { created_at: -1, _id: -1 } },
      // Ended sessions stay in the list for 30 days.
      { keys: { expires_at: 1 }, options: { expireAfterSeconds: 30 * DAY_S } },
    ],
  },
  sign_in_links: {
    owner: 'admin-api',
    indexes: [{ keys: { expires_at: 1 }, options: { expireAfterSeconds: DAY_S } }],
  },
  audit: {
    owner: 'admin-api',
    isLarge: true,
    indexes: [
      { keys: { at: 1 }, options: { expireAfterSeconds: 400 * DAY_S } },
      { keys: { project_id: 1, at: -1, _id: -1 } },
      { keys: { target: 1, at: -1, _id: -1 } },
      {
        keys: { unchained: 1, at: -1, _id: -1 },
        options: { partialFilterExpression: { unchained: true } },
      },
      {
        keys: { sequence: 1 },
        options: { unique: true, partialFilterExpression: { sequence: { $type: 'number' } } },
      },
      { keys: { key_id: 1, at: -1, _id: -1 } },
      { keys: { at: -1, _id: -1 } },
    ],
  },
  audit_chain: { owner: 'admin-api', indexes: [] },
  heartbeat: { owner: 'admin-api', indexes: [] },
  uptimes: {
    owner: 'admin-api',
    indexes: [{ keys: { to: 1 }, options: { expireAfterSeconds: 400 * DAY_S } }],
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
  inbox_replay_requests: {
    owner: 'admin-api',
    indexes: [
      { keys: { project_id: 1, requested_at: -1, _id: -1 } },
      { keys: { requested_at: -1, _id: -1 } },
      { keys: { requested_at: 1 }, options: { expireAfterSeconds: 90 * DAY_S } },
    ],
  },
  person_erasures: { owner: 'admin-api', indexes: [{ keys: { project_id: 1, requested_at: -1, _id: -1 } }] },
  operations: {
    owner: 'ledger',
    isLarge: true,
    indexes: [
      { keys: { refs: 1 } },
      { keys: { project_id: 1, created_at: -1, _id: -1 } },
      { keys: { connection_id: 1, created_at: -1, _id: -1 } },
      // Few operations have the same subject or provider_ref, so lists of them are sorted in memory.
      { keys: { subject: 1 } },
      { keys: { provider_ref: 1 }, options: { partialFilterExpression: { provider_ref: { $type: 'string' } } } },
      { keys: { created_at: -1, _id: -1 } },
      {
        keys: { connection_id: 1, idempotency_key: 1 },
        options: { unique: true, partialFilterExpression: { idempotency_key: { $type: 'string' } } },
      },
      {
        keys: { run_id: 1, created_at: -1, _id: -1 },
        options: { partialFilterExpression: { run_id: { $type: 'string' } } },
      },
      { keys: { project_id: 1, search: 1, created_at: -1, _id: -1 } },
      { keys: { outbox_at: 1 }, options: { sparse: true } },
      { keys: { timer_at: 1 }, options: { sparse: true } },
      // For the search for operations that no case knows.
      {
        keys: { updated_at: 1, _id: 1 },
        options: { partialFilterExpression: { executing_at: { $type: 'string' } } },
      },
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
  ...RECONCILER_COLLECTIONS,
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
  ...NOTIFIER_COLLECTIONS,
  // A process that ended without a word stays in the list for ten minutes.
  processes: { owner: 'kit', indexes: [{ keys: { reported_at: 1 }, options: { expireAfterSeconds: 600 } }] },
  schema_ids: { owner: 'provision', indexes: [] },
} as const satisfies Record<string, CollectionDefinition>

/** The name of a collection. */
export type CollectionName = keyof typeof COLLECTIONS
