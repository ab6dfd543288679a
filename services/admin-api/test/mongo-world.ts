import { testStack } from '@backstop/kit/test'
import { openMongoBooks } from '@backstop/ledger'
import { provision } from '@backstop/provision'
import { type CommandStartedEvent, MongoClient } from 'mongodb'
import { createMongoExpiredSecrets } from '../src/resources/connections/expired-secrets.ts'
import { createMongoShelf } from '../src/store/mongo-shelf.ts'
import { createMongoStores } from '../src/store/stores.ts'
import { type AdminWorld, openWorld } from './admin-world.ts'

export interface MongoWorld extends AdminWorld {
  /** Every command that the API sent to MongoDB. */
  readonly asked: readonly CommandStartedEvent['command'][]
  /** How MongoDB would answer a command. */
  explain(command: object): Promise<object>
  /** Has MongoDB refuse the audit rows of an action; null: it takes all of them again. */
  refuseAuditOf(action: string | null): Promise<void>
}

/** The API over a provisioned stack: MongoDB and Kafka as in production. */
export async function openMongoWorld(): Promise<MongoWorld> {
  const stack = await testStack()
  await provision({
    kafka: stack.kafka(),
    topicPrefix: stack.topicPrefix,
    durability: { replication: 1, minInsync: 1 },
    mongo: { url: stack.mongoUrl, dbName: stack.dbName },
    registryUrl: stack.registryUrl,
    waitMs: 30_000,
    report: () => {},
  })
  const client = new MongoClient(stack.mongoUrl.reveal(), { monitorCommands: true, appName: 'backstop-test' })
  const asked: CommandStartedEvent['command'][] = []
  client.on('commandStarted', event => void asked.push(event.command))
  const db = client.db(stack.dbName)
  const world = await openWorld({
    bus: stack.bus(),
    stores: createMongoStores(db),
    expiredSecrets: createMongoExpiredSecrets(db),
    others: {
      actions: createMongoShelf(db, 'actions'),
      incidents: createMongoShelf(db, 'incidents'),
      deliveries: createMongoShelf(db, 'deliveries'),
      channelHealth: createMongoShelf(db, 'channel_health'),
      replays: createMongoShelf(db, 'replays'),
      suppressions: createMongoShelf(db, 'suppressions'),
      deadLetters: createMongoShelf(db, 'dead_letters'),
      inbox: createMongoShelf(db, 'inbox'),
      inboxBodies: createMongoShelf(db, 'inbox_bodies'),
      sweeps: createMongoShelf(db, 'sweeps'),
      expectedChangeUses: createMongoShelf(db, 'expected_change_uses'),
    },
    openBooks: options => openMongoBooks(db, options),
    settings: { outcomeWaitMs: 3_000 },
    async dump() {
      const collections = await db.collections()
      return JSON.stringify(await Promise.all(collections.map(collection => collection.find().toArray())))
    },
    async onStop() {
      await client.close()
      await stack.close()
    },
  })
  return {
    ...world,
    asked,
    explain: command => db.command({ explain: command, verbosity: 'queryPlanner' }),
    async refuseAuditOf(action) {
      await db.command({ collMod: 'audit', validator: action === null ? {} : { action: { $ne: action } } })
    },
  }
}
