/** The rights that each program needs at MongoDB and Kafka: the smallest set with which it works. docs/rights.md shows them. */
import type { CollectionDefinition } from './collection-definition.ts'
import { COLLECTIONS, type CollectionName } from './collections.ts'
import { INBOUND_TOPICS, RETRY_RUNGS, type TopicName } from './topics.ts'

export interface ProgramRights {
  readonly mongo: {
    /** Collections that the program reads, and does not write. `all`: it reads every collection and the changes of the database. */
    readonly reads: readonly CollectionName[] | 'all'
    readonly writes: readonly CollectionName[]
    /** Collections whose changes it follows. */
    readonly follows?: readonly CollectionName[]
  }
  readonly kafka: {
    /** Topics that the program consumes. */
    readonly reads: readonly TopicName[]
    /** Topics that it produces to. */
    readonly writes: readonly TopicName[]
    /** The first part of the names of its consumer groups, and the name of the first of them, if it has any. */
    readonly groups?: string
  }
  /** Whether it creates topics, collections and indexes. */
  readonly provisions?: true
}

const inbound = Object.values(INBOUND_TOPICS)
const retries = RETRY_RUNGS.map(({ topic }) => topic)
const looks = ['rechecks', 'rechecks.due', 'rechecks.unanswered', 'rereads', 'rereads.retry', 'readbacks'] as const

function ownedBy(...owners: CollectionDefinition['owner'][]): CollectionName[] {
  return Object.entries(COLLECTIONS).flatMap(([name, { owner }]) =>
    owners.includes(owner) ? [name as CollectionName] : [],
  )
}

/**
 * By the names of the programs. Before a service starts, `wait-for-provision` looks with the service's users for all topics, collections and
 * indexes: so each reads the names and settings of all topics, and the indexes of all collections.
 */
export const RIGHTS = {
  ingress: {
    mongo: { reads: ['connections', 'schema_ids'], writes: ownedBy('kit'), follows: ['connections'] },
    kafka: { reads: [], writes: inbound },
  },
  reconciler: {
    mongo: {
      reads: ['projects', 'connections', 'actors', 'person_erasures', 'schema_ids'],
      // A person who says "This was us" about an incident makes an expected change.
      writes: [...ownedBy('reconciler', 'ledger', 'kit'), 'expected_changes'],
    },
    kafka: {
      groups: 'reconciler',
      reads: [...inbound, 'operations', ...looks, 'commands'],
      // It writes to the topics of events when it replays events of its inbox, and to `operations` for the ledger.
      writes: [...inbound, 'operations', ...looks, 'commands', 'incidents', 'alerts', 'inbound.dead'],
    },
  },
  notifier: {
    mongo: {
      reads: ['projects', 'connections', 'channels', 'silences', 'actors', 'actions', 'person_erasures', 'schema_ids'],
      writes: ownedBy('notifier', 'kit'),
    },
    kafka: {
      groups: 'notifier',
      reads: ['alerts', 'deliveries', ...retries, 'commands', 'deliveries.dead', 'inbound.dead'],
      writes: ['alerts', 'deliveries', ...retries, 'commands', 'deliveries.dead'],
    },
  },
  'admin-api': {
    mongo: { reads: 'all', writes: ownedBy('admin-api', 'ledger', 'kit') },
    // It publishes dead letters again to the topics from which they came.
    kafka: {
      reads: [],
      writes: [...inbound, 'operations', 'rechecks.due', 'rereads', 'readbacks', 'commands', 'alerts', 'deliveries'],
    },
  },
  provision: {
    mongo: { reads: [], writes: ownedBy('provision') },
    kafka: { reads: [], writes: [] },
    provisions: true,
  },
} as const satisfies Record<string, ProgramRights>

/**
 * What `backstop doctor` reads in a container of admin-api, with its users: the size of the database, and the progress of the consumer
 * groups that begin with these names. The service works without these rights.
 */
export const DOCTOR_RIGHTS = {
  program: 'admin-api',
  mongo: [{ collection: '', actions: ['dbStats'] }],
  groups: ['reconciler', 'notifier'],
} as const satisfies { program: ProgramName; mongo: readonly MongoRight[]; groups: readonly string[] }

export type ProgramName = keyof typeof RIGHTS

/** What a user of MongoDB may do, in the form of the server's privileges. */
export interface MongoRight {
  /** Empty for all collections of the database, as at the server. */
  readonly collection: CollectionName | ''
  readonly actions: readonly string[]
}

/** The privileges of a program's user on the product's database. */
export function mongoRightsOf(program: ProgramName): MongoRight[] {
  const { mongo, provisions }: ProgramRights = RIGHTS[program]
  const everywhere = ['listIndexes']
  if (mongo.reads === 'all') everywhere.push('find', 'changeStream')
  if (provisions) everywhere.push('find', 'createCollection', 'createIndex')
  const reads = mongo.reads === 'all' ? [] : mongo.reads
  return [
    { collection: '', actions: everywhere },
    ...reads.map(collection => {
      const follows = mongo.follows?.includes(collection) ? ['changeStream'] : []
      return { collection, actions: ['find', ...follows] }
    }),
    ...mongo.writes.map(collection => ({ collection, actions: ['find', 'insert', 'update', 'remove'] })),
  ]
}
