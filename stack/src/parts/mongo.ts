import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { PartProgram } from '../embedded-part.ts'
import { runProgram } from '../run-program.ts'

export interface MongoSettings {
  /** The `mongod` executable. */
  mongod: string
  dir: string
  port: number
}

export const REPLICA_SET = 'backstop'
const WRITABLE = fileURLToPath(new URL('./mongo-writable-main.ts', import.meta.url))
const WRITABLE_MS = 20_000

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
      // MongoDB's own level, 6, costs an eighth more work than 1 for 3 % fewer bytes.
      ...['--zstdDefaultCompressionLevel', '1'],
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
    checkReady: () => checkWritable(port),
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

/** Rejects while MongoDB does not listen, or accepts no writes. */
async function checkWritable(port: number): Promise<void> {
  // The program below is not started for each attempt, because its start takes longer than that of MongoDB.
  const socket = connect({ port, host: '127.0.0.1' })
  await once(socket, 'connect')
  socket.destroy()
  await runProgram(process.execPath, [WRITABLE, String(port)], { timeoutMs: WRITABLE_MS })
}
