import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { MongoClient, MongoServerError } from 'mongodb'
import type { PartProgram } from '../embedded-part.ts'

export interface MongoSettings {
  /** The `mongod` executable. */
  mongod: string
  dir: string
  port: number
}

const REPLICA_SET = 'backstop'

/** The URL for clients. With the replica set's name the driver follows the primary, as in production. */
export function mongoUrl(port: number): string {
  return `mongodb://127.0.0.1:${port}/?replicaSet=${REPLICA_SET}`
}

/** A replica set of one member, because transactions and change streams need a replica set but not three machines. */
export function mongoProgram({ mongod, dir, port }: MongoSettings): PartProgram {
  const dbPath = join(dir, 'db')
  return {
    name: 'mongo',
    title: 'MongoDB',
    program: mongod,
    args: [
      ...['--replSet', REPLICA_SET, '--bind_ip', '127.0.0.1', '--port', String(port), '--dbpath', dbPath],
      ...['--wiredTigerCacheSizeGB', '0.5', '--oplogSize', '512', '--quiet', '--nounixsocket'],
      // No client reads older snapshots: keeping replaced values for five minutes would cost a tenth of all work.
      ...['--setParameter', 'minSnapshotHistoryWindowInSeconds=0'],
      // By default a stop waits 15 s for clients to switch to another member, but there is none.
      ...['--setParameter', 'shutdownTimeoutMillisForSignaledShutdown=0'],
      ...['--setParameter', 'diagnosticDataCollectionEnabled=false'],
    ],
    marker: dbPath,
    cwd: dir,
    readyWithinMs: 90_000,
    files: {},
    prepare: async () => {
      mkdirSync(dbPath, { recursive: true })
    },
    checkReady: () => makeWritable(port),
    explainLogLine,
  }
}

/**
 * Filters mongod's log, which has one JSON document per line. On a failure most lines are its call stack; lines with a
 * severity above I (informational) state the reason.
 */
export function explainLogLine(line: string): string | undefined {
  try {
    const { s: severity, msg, attr } = JSON.parse(line) as { s: string; msg: string; attr?: object }
    const text = msg.replace(/\s+/g, ' ').trim()
    if (text === '' || !['W', 'E', 'F'].includes(severity)) return undefined
    return `${severity} ${text}${attr ? ` ${JSON.stringify(attr)}` : ''}`
  } catch {
    return line // not mongod's own: the loader's, for example
  }
}

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
