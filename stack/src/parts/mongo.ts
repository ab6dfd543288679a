import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { MongoClient, MongoServerError } from 'mongodb'
import type { PartProgram } from '../embedded-part.ts'

export interface MongoSettings {
  /** Executable `mongod`. */
  mongod: string
  dir: string
  port: number
}

const REPLICA_SET = 'backstop'

/** What clients connect with: the replica set's name makes the driver follow the primary, as it does in production. */
export function mongoUrl(port: number): string {
  return `mongodb://127.0.0.1:${port}/?replicaSet=${REPLICA_SET}`
}

/** A replica set of one member: transactions and change streams need a replica set, not three machines. */
export function mongoProgram({ mongod, dir, port }: MongoSettings): PartProgram {
  const dbPath = join(dir, 'db')
  return {
    name: 'mongo',
    title: 'MongoDB',
    program: mongod,
    args: [
      ...['--replSet', REPLICA_SET, '--bind_ip', '127.0.0.1', '--port', String(port), '--dbpath', dbPath],
      ...['--wiredTigerCacheSizeGB', '0.5', '--oplogSize', '512', '--quiet', '--nounixsocket'],
      // Nobody reads the past: what an update replaces need not be kept for five minutes, which costs a tenth of all work.
      ...['--setParameter', 'minSnapshotHistoryWindowInSeconds=0'],
      // Otherwise a stop waits 15 s for clients that could go to another member; there is none.
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

/** mongod logs one JSON document a line; when it fails, most of them are its call stack. Severities above I(nfo) say why. */
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

/** Makes it a replica set if it is none yet; rejects while it does not take writes. */
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
    // The stored set names the port of an earlier start, which something else uses by now.
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
