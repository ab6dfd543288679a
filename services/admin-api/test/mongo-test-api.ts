import { testStack } from '@backstop/kit/test'
import { openMongoBooks } from '@backstop/ledger'
import { provision } from '@backstop/provision'
import { type CommandStartedEvent, MongoClient } from 'mongodb'
import { createMongoExpiredSecrets } from '../src/resources/connections/expired-secrets.ts'
import { createMongoCollection } from '../src/store/mongo-collection.ts'
import { createMongoStores } from '../src/store/stores.ts'
import { startTestApi, type TestApi } from './test-api.ts'

export interface MongoTestApi extends TestApi {
  /** All commands that the API sent to MongoDB. */
  readonly asked: readonly CommandStartedEvent['command'][]
  /** Returns MongoDB's query plan for a command. */
  explain(command: object): Promise<object>
  /** Makes MongoDB refuse the audit rows of an action; null makes it accept all rows again. */
  refuseAuditOf(action: string | null): Promise<void>
}

/** Starts the API over a provisioned stack: MongoDB and Kafka as in production. */
export async function startMongoApi(): Promise<MongoTestApi> {
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
  const testApi = await startTestApi({
    bus: stack.bus(),
    stores: createMongoStores(db),
    expiredSecrets: createMongoExpiredSecrets(db),
    others: {
      actions: createMongoCollection(db, 'actions'),
      incidents: createMongoCollection(db, 'incidents'),
      deliveries: createMongoCollection(db, 'deliveries'),
      channelHealth: createMongoCollection(db, 'channel_health'),
      replays: createMongoCollection(db, 'replays'),
      stormMembers: createMongoCollection(db, 'storm_members'),
      suppressions: createMongoCollection(db, 'suppressions'),
      deadLetters: createMongoCollection(db, 'dead_letters'),
      inbox: createMongoCollection(db, 'inbox'),
      inboxBodies: createMongoCollection(db, 'inbox_bodies'),
      sweeps: createMongoCollection(db, 'sweeps'),
      expectedChangeUses: createMongoCollection(db, 'expected_change_uses'),
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
    ...testApi,
    asked,
    explain: command => db.command({ explain: command, verbosity: 'queryPlanner' }),
    async refuseAuditOf(action) {
      await db.command({ collMod: 'audit', validator: action === null ? {} : { action: { $ne: action } } })
    },
  }
}
