/**
 * Ends with 0 when the MongoDB at the port of the command line accepts writes; creates its replica set if there is none. It is a program of
 * its own, because the driver would take 40 MB of the launcher's memory for as long as the product runs.
 */
import { MongoClient, MongoServerError } from 'mongodb'
import { pollUntil } from '../poll.ts'
import { REPLICA_SET } from './mongo.ts'

/** Shorter than a start that fails, whose end is noticed afterwards. */
const WITHIN_MS = 5_000
const NOT_YET_INITIATED = 94
const ALREADY_INITIATED = 23

/** Creates the replica set if it does not exist. Rejects while it accepts no writes. */
async function makeWritable(port: number): Promise<void> {
  const client = new MongoClient(`mongodb://127.0.0.1:${port}/`, {
    directConnection: true,
    serverSelectionTimeoutMS: 1000,
    connectTimeoutMS: 1000,
    socketTimeoutMS: 10_000,
    maxPoolSize: 1,
  })
  const host = `127.0.0.1:${port}`
  try {
    const admin = client.db('admin')
    const hello = await admin.command({ hello: 1 })
    if (hello.isWritablePrimary === true && hello.me === host) return
    if (hello.setName === undefined) await initiateOrMove(client, host)
    throw new Error('MongoDB has no primary yet')
  } finally {
    await client.close()
  }
}

async function initiateOrMove(client: MongoClient, host: string): Promise<void> {
  const admin = client.db('admin')
  try {
    const { config } = await admin.command({ replSetGetConfig: 1 })
    if (config.members[0].host === host) return
    // The stored configuration contains the port of an earlier start, which another program uses now.
    const members = [{ ...config.members[0], host }]
    await admin.command({ replSetReconfig: { ...config, version: config.version + 1, members }, force: true })
  } catch (error) {
    if (!(error instanceof MongoServerError) || error.code !== NOT_YET_INITIATED) throw error
    await admin
      .command({ replSetInitiate: { _id: REPLICA_SET, members: [{ _id: 0, host }] } })
      .catch((refused: unknown) => {
        if (!(refused instanceof MongoServerError) || refused.code !== ALREADY_INITIATED) throw refused
      })
  }
}

const port = Number(process.argv[2])
let fault: unknown
const attempt = () =>
  makeWritable(port).then(
    () => true,
    error => {
      fault = error
    },
  )
if ((await pollUntil(attempt, { timeoutMs: WITHIN_MS })) === undefined) throw fault
