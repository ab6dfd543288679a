import { connectMongo } from '@backstop/kit'
import { testStack } from '@backstop/kit/test'
import { openMongoBooks } from '@backstop/ledger'
import { provision } from '@backstop/provision'
import { createMongoShelf } from '../src/store/mongo-shelf.ts'
import { createMongoStores } from '../src/store/stores.ts'
import { openWorld } from './admin-world.ts'
import { describeApi } from './contract/api.contract.ts'

describeApi('MongoDB and Kafka', async () => {
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
  const { db, stop } = connectMongo({ url: stack.mongoUrl, dbName: stack.dbName, appName: 'backstop-test' })
  return openWorld({
    bus: stack.bus(),
    stores: createMongoStores(db),
    others: {
      actions: createMongoShelf(db, 'actions'),
      incidents: createMongoShelf(db, 'incidents'),
      deliveries: createMongoShelf(db, 'deliveries'),
      channelHealth: createMongoShelf(db, 'channel_health'),
      replays: createMongoShelf(db, 'replays'),
      suppressions: createMongoShelf(db, 'suppressions'),
      inbox: createMongoShelf(db, 'inbox'),
      inboxBodies: createMongoShelf(db, 'inbox_bodies'),
    },
    openBooks: options => openMongoBooks(db, options),
    settings: { outcomeWaitMs: 3_000 },
    async dump() {
      const collections = await db.collections()
      return JSON.stringify(await Promise.all(collections.map(collection => collection.find().toArray())))
    },
    async onStop() {
      await stop()
      await stack.close()
    },
  })
})
