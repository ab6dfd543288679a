import { type CollectionDefinition, DAY_S, DELIVERY_DAYS } from './collection-definition.ts'

/** The collections of the notifier. */
export const NOTIFIER_COLLECTIONS = {
  deliveries: {
    owner: 'notifier',
    isLarge: true,
    indexes: [
      { keys: { project_id: 1, created_at: -1, _id: -1 } },
      { keys: { alert_id: 1, created_at: -1, _id: -1 } },
      { keys: { channel_id: 1, created_at: 1, _id: 1 } },
      // Few deliveries were in a digest that failed.
      { keys: { digest_group: 1 }, options: { sparse: true } },
      { keys: { created_at: -1, _id: -1 } },
      // For the erasure of a customer: deliveries about an action, and the few reports that name a customer.
      ...['action.action_id', 'storm.common.customer.count', 'incident.burst.common.customer.count'].map(field => ({
        keys: { project_id: 1 as const, [`alert.data.${field}`]: 1 as const },
        options: { partialFilterExpression: { [`alert.data.${field}`]: { $exists: true } } },
      })),
      // A partial index, because few of very many deliveries are dead.
      {
        keys: { project_id: 1, state: 1, created_at: -1, _id: -1 },
        options: { partialFilterExpression: { state: 'dead' } },
      },
      { keys: { state: 1, created_at: -1, _id: -1 }, options: { partialFilterExpression: { state: 'dead' } } },
      // For the list of dead letters, by the time when they became dead.
      {
        keys: { project_id: 1, state: 1, updated_at: -1, _id: -1 },
        options: { partialFilterExpression: { state: 'dead' } },
      },
      { keys: { state: 1, updated_at: -1, _id: -1 }, options: { partialFilterExpression: { state: 'dead' } } },
      // For the metrics of the installation, by the states of the deliveries that still wait.
      {
        keys: { state: 1, created_at: 1, channel_id: 1 },
        options: { partialFilterExpression: { state: { $in: ['pending', 'retrying'] } } },
      },
      { keys: { created_at: 1 }, options: { expireAfterSeconds: DELIVERY_DAYS * DAY_S } },
    ],
  },
  channel_health: { owner: 'notifier', indexes: [{ keys: { 'outbox.at': 1 }, options: { sparse: true } }] },
  storms: {
    owner: 'notifier',
    indexes: [
      // Unique, because a scope of a connection has one open storm at most.
      {
        keys: { connection_id: 1 },
        options: { unique: true, partialFilterExpression: { state: 'open' } },
      },
      { keys: { project_id: 1, began_at: -1, _id: -1 } },
      { keys: { began_at: -1, _id: -1 } },
      { keys: { next_look_at: 1 }, options: { sparse: true } },
      { keys: { 'outbox.at': 1 }, options: { sparse: true } },
      { keys: { began_at: 1 }, options: { expireAfterSeconds: 90 * DAY_S } },
    ],
  },
  storm_members: {
    owner: 'notifier',
    indexes: [
      // For the members of a connection without a storm, and for lists of all members of a storm.
      { keys: { connection_id: 1, storm_id: 1, opened_at: 1, _id: 1 } },
      // For the totals of a storm, which read the incidents of each action together.
      { keys: { connection_id: 1, storm_id: 1, action_id: 1, opened_at: 1, _id: 1 } },
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
      { keys: { project_id: 1, parked_at: -1, _id: -1 } },
      { keys: { parked_at: -1, _id: -1 } },
      // For the metrics of the installation. A partial index, because most dead letters are replayed.
      { keys: { replayed_at: 1, topic: 1 }, options: { partialFilterExpression: { replayed_at: null } } },
      // The same retention time as the topic's.
      { keys: { parked_at: 1 }, options: { expireAfterSeconds: 30 * DAY_S } },
    ],
  },
  delivery_erasures: { owner: 'notifier', indexes: [] },
  erased_actions: {
    owner: 'notifier',
    // They are read by their ids. An alert may wait in its topic for seven days, as a dead letter for 30 days, once more in a topic for seven
    // and in its retries for three.
    indexes: [{ keys: { at: 1 }, options: { expireAfterSeconds: 60 * DAY_S } }],
  },
  replays: {
    owner: 'notifier',
    indexes: [
      { keys: { requested_at: 1 }, options: { expireAfterSeconds: 90 * DAY_S } },
      { keys: { state: 1, next_page_at: 1 } },
    ],
  },
} as const satisfies Record<string, CollectionDefinition>
