import { type CollectionDefinition, DAY_S } from './collection-definition.ts'

/** The collections of the reconciler. */
export const RECONCILER_COLLECTIONS = {
  subjects: {
    owner: 'reconciler',
    isLarge: true,
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
    isLarge: true,
    indexes: [
      // The last key lets a list by the time of the provider skip actions without reading them.
      { keys: { project_id: 1, first_seen: -1, _id: -1, provider_created_at: 1 } },
      { keys: { connection_ids: 1, first_seen: -1, _id: -1 } },
      // Few actions have the same subject or provider_ref, so that lists of them are sorted in memory.
      { keys: { subject: 1 } },
      { keys: { provider_ref: 1 }, options: { partialFilterExpression: { provider_ref: { $type: 'string' } } } },
      // Partial, because providers name no actor for most actions.
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
      // For searches: the newest month first, in it a key before longer ones, and of one key the newest first.
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
    isLarge: true,
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
    isLarge: true,
    indexes: [
      { keys: { received_at: 1 }, options: { expireAfterSeconds: 400 * DAY_S } },
      { keys: { project_id: 1, received_at: -1, _id: -1 } },
      { keys: { received_at: -1, _id: -1 } },
      // For the window of a replay, and for lists of a connection.
      { keys: { connection_id: 1, received_at: 1, _id: 1 } },
      // Partial, because few of very many notifications are held or dead letters. Lists of other outcomes read the index before.
      {
        keys: { connection_id: 1, outcome: 1, received_at: 1, _id: 1 },
        options: { name: 'few_of_connection', partialFilterExpression: { outcome: { $in: ['held', 'parked'] } } },
      },
      // Partial and not sparse: a sparse index has each document with any of its keys, and all have received_at.
      {
        keys: { replay_id: 1, received_at: -1, _id: -1 },
        options: { name: 'replayed', partialFilterExpression: { replay_id: { $type: 'string' } } },
      },
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
    isLarge: true,
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
  expected_change_uses: {
    owner: 'reconciler',
    indexes: [{ keys: { expires_at: 1 }, options: { expireAfterSeconds: 400 * DAY_S } }],
  },
} as const satisfies Record<string, CollectionDefinition>
