/** The contract on the real server. */
import type { Timestamp } from 'mongodb'
import { Secret } from '../../../src/config/index.ts'
import { connectMongo } from '../../../src/mongo/index.ts'
import { startTcpProxy, testStack } from '../../index.ts'
import { describeDriver } from './driver.contract.ts'
import { CONTRACT_COLLECTIONS, type ContractDatabase } from './test-database.ts'

describeDriver('MongoDB', async (): Promise<ContractDatabase> => {
  const stack = await testStack()
  const { hostname, port } = new URL(stack.mongoUrl.reveal())
  const proxy = await startTcpProxy({ host: hostname, port: Number(port) })
  const url = new Secret(`mongodb://${proxy.address.host}:${proxy.address.port}/?directConnection=true`)
  const mongo = connectMongo({ url, dbName: stack.dbName, appName: 'backstop-test' })
  for (const [name, { indexes }] of Object.entries(CONTRACT_COLLECTIONS)) {
    await mongo.db.createCollection(name)
    for (const { keys, options = {} } of indexes)
      await mongo.db.collection(name).createIndex(keys as Record<string, 1 | -1>, options)
  }
  return {
    mongo,
    loseNextCommitAnswer() {
      proxy.onRequest = chunk => {
        if (!chunk.includes('commitTransaction')) return
        proxy.onRequest = () => {}
        proxy.passResponse = () => {
          proxy.passResponse = () => true
          return false
        }
      }
    },
    async countOplogEntries(write) {
      const oplog = mongo.client.db('local').collection<{ ts: Timestamp }>('oplog.rs')
      const [newest] = await oplog.find().sort({ $natural: -1 }).limit(1).toArray()
      await write()
      const ofTests = new RegExp(`^${stack.dbName}\\.`)
      return oplog.countDocuments({
        ts: { $gt: newest!.ts },
        $or: [{ ns: ofTests }, { 'o.applyOps.ns': ofTests }],
      })
    },
    /** The oplog of a test is whole, so it is the position of a change that it does not have: of 2004, in seconds after the two first digits. */
    async positionTooOld() {
      const stream = mongo.db.watch()
      await stream.tryNext()
      await mongo.db.collection('things').insertOne({})
      const { _data } = (await stream.next())._id as { _data: string }
      await stream.close()
      return `8240000000${_data.slice(10)}`
    },
    async close() {
      await mongo.stop()
      await proxy.stop()
      await stack.close()
    },
  }
})
