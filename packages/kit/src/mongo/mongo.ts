import {
  type Db,
  MongoBulkWriteError,
  MongoClient,
  MongoError,
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
} from 'mongodb'
import type { Secret } from '../config/secret.ts'
import { AppError, unavailable } from '../errors.ts'

export interface MongoOptions {
  readonly url: Secret
  readonly dbName: string
  /** Shown in the server's log and in currentOp. */
  readonly appName: string
}

export interface Mongo {
  readonly client: MongoClient
  readonly db: Db
  /** @throws AppError `unavailable` when no primary answers */
  ping(): Promise<void>
  stop(): Promise<void>
}

/** How long an operation waits for a primary before it says that MongoDB is away. */
const SERVER_SELECTION_TIMEOUT_MS = 5_000

/**
 * Opens MongoDB. Every write waits for a majority and the journal, and says so itself: a set with an arbiter would
 * otherwise fall back to one member's word. It connects in the background, so a service starts while MongoDB is away.
 */
export function connectMongo(options: MongoOptions): Mongo {
  const client = new MongoClient(options.url.reveal(), {
    appName: options.appName,
    writeConcern: { w: 'majority', journal: true, wtimeoutMS: 10_000 },
    readConcernLevel: 'majority',
    retryWrites: true,
    retryReads: true,
    serverSelectionTimeoutMS: SERVER_SELECTION_TIMEOUT_MS,
    connectTimeoutMS: 5_000,
    socketTimeoutMS: 30_000,
    maxPoolSize: 20,
    ignoreUndefined: true,
  })
  const db = client.db(options.dbName)
  const stopConnecting = keepConnecting(client)
  return {
    client,
    db,
    async ping() {
      await asUnavailable(() => db.command({ ping: 1 }))
    },
    async stop() {
      stopConnecting()
      await client.close()
    },
  }
}

const CONNECT_EVERY_MS = 500

/**
 * Connects, again and again until it has once succeeded: when the driver's (7.9) very first connection fails, it keeps a
 * topology that is closed for good, and every later call says so. Once connected, it reconnects by itself.
 * @returns ends the attempts
 */
function keepConnecting(client: MongoClient): () => void {
  let isStopped = false
  let timer: NodeJS.Timeout | undefined
  const attempt = (): void => {
    client.connect().then(
      () => (isStopped ? client.close() : undefined),
      () => {
        // Whoever needs it meanwhile hears why; here only the next attempt counts.
        if (!isStopped) timer = setTimeout(attempt, CONNECT_EVERY_MS).unref()
      },
    )
  }
  attempt()
  return () => {
    isStopped = true
    clearTimeout(timer)
  }
}

/** Server codes that mean "not now": elections, shutdown, interrupted by a step-down, write concern not met in time. */
const PASSING_CODES = new Set([6, 7, 64, 89, 91, 112, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436, 50])

/** Whether an error of the driver says that MongoDB is away or changing its primary, not that the call was wrong. */
export function isMongoAway(error: unknown): boolean {
  // A bulk write wraps what befell its connection, so that it looks like an answer of the server.
  if (error instanceof MongoBulkWriteError && (error.errorResponse as unknown) instanceof Error) {
    return isMongoAway(error.errorResponse)
  }
  // The driver lets some errors of the socket through as they are.
  if (error instanceof Error && 'syscall' in error) return true
  if (error instanceof MongoNetworkError || error instanceof MongoServerSelectionError) return true
  if (error instanceof MongoServerError && typeof error.code === 'number' && PASSING_CODES.has(error.code)) return true
  if (error instanceof MongoError && error.hasErrorLabel('RetryableWriteError')) return true
  return (
    error instanceof MongoError &&
    /topology is closed|client must be connected|pool was cleared|timed out/i.test(error.message)
  )
}

/** Runs a call to MongoDB; what fails because MongoDB is away becomes AppError `unavailable`, which is retried. */
export async function asUnavailable<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (!(error instanceof AppError) && isMongoAway(error)) throw unavailable('MongoDB', error)
    throw error
  }
}

/** Code of a unique index that refused a document: for an insert by deterministic id it means "already there". */
export const DUPLICATE_KEY = 11_000
