import { type CollectionDefinition, DAY_S } from './collection-definition.ts'
import { NOTIFIER_COLLECTIONS } from './notifier-collections.ts'

export { type CollectionDefinition, DELIVERY_DAYS, PERSONAL_DATA_DAYS } from './collection-definition.ts'

/** Every collection with its owner and its indexes. A TTL index is the retention time of its documents. */
export const COLLECTIONS = {
  projects: { owner: 'admin-api', indexes: [{ keys: { created_at: -1, _id: -1 } }] },
  actors: {
    owner: 'admin-api',
    indexes: [
      { keys: { project_id: 1, created_at: -1, _id: -1 } },
      // For the reconciler, which reads what changed.
      { keys: { updated_at: 1 } },
    ],
  },
  connections: { owner: 'admin-api', indexes: [{ keys: { project_id: 1, created_at: -1, _id: -1 } }] },
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
    indexes: [
      { keys: { refs: 1 } },
      { keys: { project_id: 1, created_at: -1, _id: -1 } },
      { keys: { connection_id: 1, created_at: -1, _id: -1 } },
      { keys: { subject: 1, created_at: -1, _id: -1 } },
      {
        keys: { provider_ref: 1, created_at: -1, _id: -1 },
        options: { partialFilterExpression: { provider_ref: { $type: 'string' } } },
      },
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
  actor_secrets: { owner: 'reconciler', indexes: [] },
  actions: {
    owner: 'reconciler',
    indexes: [
      // The last key lets a list by the time of the provider skip actions without reading them.
      { keys: { project_id: 1, first_seen: -1, _id: -1, provider_created_at: 1 } },
      { keys: { connection_ids: 1, first_seen: -1, _id: -1 } },
      { keys: { subject: 1, first_seen: -1, _id: -1 } },
      {
        keys: { provider_ref: 1, first_seen: -1, _id: -1 },
        options: { partialFilterExpression: { provider_ref: { $type: 'string' } } },
      },
      // Partial, because the providers name nobody for most actions.
      {
        keys: { actor_id: 1, first_seen: -1, _id: -1 },
        options: { partialFilterExpression: { actor_id: { $type: 'string' } } },
      },
      // Partial indexes, because few of very many actions are unexplained.
      {
        keys: { project_id: 1, verdict: 1, first_seen: -1, _id: -1 },
        options: { partialFilterExpression: { verdict: 'unexplained' } },
      },
      {
        keys: { connection_ids: 1, verdict: 1, first_seen: -1, _id: -1 },
        options: { partialFilterExpression: { verdict: 'unexplained' } },
      },
      {
        keys: { verdict: 1, first_seen: -1, _id: -1 },
        options: { partialFilterExpression: { verdict: 'unexplained' } },
      },
      // For the metrics of the installation and the burst alarm, whose queries read nothing but this index. Few actions wait for a verdict.
      {
        keys: { verdict: 1, second_look_at: 1, first_seen: 1, merged_into: 1, provider: 1, connection_id: 1 },
        options: { partialFilterExpression: { verdict: 'pending' } },
      },
      // For dry runs, which read the actions with a finished second look.
      {
        keys: { connection_ids: 1, look_done: -1, _id: -1 },
        options: { partialFilterExpression: { look_done: { $exists: true } } },
      },
      // Only of connected accounts, also for their stats.
      {
        keys: { account: 1, first_seen: -1, _id: -1 },
        options: { partialFilterExpression: { account: { $type: 'string' } } },
      },
      // For searches: an exact match before longer keys, and of one key the newest first.
      { keys: { project_id: 1, search: 1, first_seen: -1, _id: -1 } },
      // For searches of incidents: only the actions that have one, which are few.
      {
        keys: { project_id: 1, search: 1, incident_id: -1 },
        options: { partialFilterExpression: { incident_id: { $type: 'string' } } },
      },
      // For the daily totals, which count an action for its first connection, on the day when the provider made it.
      { keys: { connection_id: 1, provider_created_at: 1 } },
      { keys: { first_seen: -1, _id: -1 } },
    ],
  },
  archived_actions: {
    owner: 'reconciler',
    // For the daily totals, as that of `actions`.
    indexes: [{ keys: { connection_id: 1, provider_created_at: 1 } }],
  },
  incidents: {
    owner: 'reconciler',
    indexes: [
      { keys: { project_id: 1, state: 1, opened: -1, _id: -1 } },
      { keys: { state: 1, opened: -1, _id: -1 } },
      { keys: { connection_id: 1, opened: -1, _id: -1 } },
      {
        keys: { account: 1, opened: -1, _id: -1 },
        options: { partialFilterExpression: { account: { $type: 'string' } } },
      },
      // Lists of a code, and the counts of the installation's metrics. An index of state and code alone would be chosen for lists,
      // which would then be sorted in memory.
      { keys: { code: 1, state: 1, opened: -1, _id: -1 } },
      {
        keys: { actor_id: 1, opened: -1, _id: -1 },
        options: { partialFilterExpression: { actor_id: { $type: 'string' } } },
      },
      { keys: { 'outbox.at': 1 }, options: { sparse: true } },
    ],
  },
  incident_bulks: {
    owner: 'reconciler',
    indexes: [
      { keys: { state: 1, next_page_at: 1 } },
      { keys: { requested_at: 1 }, options: { expireAfterSeconds: 90 * DAY_S } },
    ],
  },
  incident_outcomes: {
    owner: 'reconciler',
    indexes: [{ keys: { at: 1 }, options: { expireAfterSeconds: DAY_S } }],
  },
  daily_totals: {
    owner: 'reconciler',
    indexes: [
      { keys: { project_id: 1, day: -1, _id: -1 } },
      { keys: { connection_id: 1, day: -1, _id: -1 } },
      // For the list of actors. Most days of most connections name none.
      {
        keys: { project_id: 1, actor_count: 1 },
        options: { partialFilterExpression: { actor_count: { $gte: 1 } } },
      },
      // For the days that wait for their count, which are few.
      {
        keys: { count_at: 1, project_id: 1, day: 1 },
        options: { partialFilterExpression: { count_at: { $exists: true } } },
      },
    ],
  },
  bursts: { owner: 'reconciler', indexes: [{ keys: { check_at: 1 }, options: { sparse: true } }] },
  project_totals: {
    owner: 'reconciler',
    indexes: [{ keys: { project_id: 1, day: -1, _id: -1 } }, { keys: { day: -1, _id: -1 } }],
  },
  inbox: {
    owner: 'reconciler',
    indexes: [
      { keys: { received_at: 1 }, options: { expireAfterSeconds: 400 * DAY_S } },
      { keys: { project_id: 1, received_at: -1, _id: -1 } },
      { keys: { received_at: -1, _id: -1 } },
      { keys: { connection_id: 1, outcome: 1, received_at: 1, _id: 1 } },
      // For the window of a replay.
      { keys: { connection_id: 1, received_at: 1, _id: 1 } },
      { keys: { replay_id: 1, received_at: -1, _id: -1 }, options: { sparse: true } },
      // For the list of dead letters. Partial indexes, because few of very many notifications are dead letters.
      {
        keys: { project_id: 1, outcome: 1, processed_at: -1, _id: -1 },
        options: { partialFilterExpression: { outcome: 'parked' } },
      },
      { keys: { outcome: 1, processed_at: -1, _id: -1 }, options: { partialFilterExpression: { outcome: 'parked' } } },
    ],
  },
  inbox_replays: {
    owner: 'reconciler',
    indexes: [
      { keys: { requested_at: 1 }, options: { expireAfterSeconds: 90 * DAY_S } },
      { keys: { state: 1, next_page_at: 1 } },
    ],
  },
  inbox_bodies: {
    owner: 'reconciler',
    indexes: [{ keys: { received_at: 1 }, options: { expireAfterSeconds: 14 * DAY_S } }],
  },
  erasures: { owner: 'reconciler', indexes: [] },
  sweeps: { owner: 'reconciler', indexes: [{ keys: { next_run_at: 1 } }] },
  sweep_days: {
    owner: 'reconciler',
    indexes: [
      { keys: { connection_id: 1, day: 1 } },
      { keys: { day: 1 }, options: { expireAfterSeconds: 400 * DAY_S } },
    ],
  },
  operation_search: { owner: 'reconciler', indexes: [] },
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
  ...NOTIFIER_COLLECTIONS,
  // A process that ended without a word stays in the list for ten minutes.
  processes: { owner: 'kit', indexes: [{ keys: { reported_at: 1 }, options: { expireAfterSeconds: 600 } }] },
  schema_ids: { owner: 'provision', indexes: [] },
} as const satisfies Record<string, CollectionDefinition>

/** The name of a collection. */
export type CollectionName = keyof typeof COLLECTIONS
