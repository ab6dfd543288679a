import { type Db, MongoBulkWriteError, MongoClient, MongoError, MongoInvalidArgumentError } from 'mongodb'
import type { Secret } from '../config/secret.ts'
import { AppError, unavailable } from '../errors.ts'

export interface MongoOptions {
  readonly url: Secret
  readonly dbName: string
  /** Shown in the server's log and in currentOp. */
  readonly appName: string
  /**
   * Whether the driver repeats a write that an election interrupted; true when left out. False is for who repeats the
   * whole work anyway: the server then need not keep a record of each update, which takes a sixth of its time for them.
   */
  readonly retryWrites?: boolean
}

export interface Mongo {
  readonly client: MongoClient
  readonly db: Db
  /** @throws AppError `unavailable` when no primary answers */
  ping(): Promise<void>
  stop(): Promise<void>
}

/** Connections of one process to one server. */
export const MAX_CONNECTIONS = 20
/** How long an operation waits for a primary before it says that MongoDB is away. */
const SERVER_SELECTION_TIMEOUT_MS = 5_000
/** And how long for a connection: the driver's own answer is for ever, and what waits tells nobody. */
const WAIT_QUEUE_TIMEOUT_MS = 10_000

/**
 * Opens MongoDB. Every write waits for a majority and the journal, and says so itself: a set with an arbiter would
 * otherwise fall back to one member's word. It connects in the background, so a service starts while MongoDB is away.
 */
export function connectMongo(options: MongoOptions): Mongo {
  const client = new MongoClient(options.url.reveal(), {
    appName: options.appName,
    writeConcern: { w: 'majority', journal: true, wtimeoutMS: 10_000 },
    readConcernLevel: 'majority',
    retryWrites: options.retryWrites ?? true,
    retryReads: true,
    serverSelectionTimeoutMS: SERVER_SELECTION_TIMEOUT_MS,
    connectTimeoutMS: 5_000,
    socketTimeoutMS: 30_000,
    maxPoolSize: MAX_CONNECTIONS,
    waitQueueTimeoutMS: WAIT_QUEUE_TIMEOUT_MS,
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

/** Code of a unique index that refused a document: for an insert by deterministic id it means "already there". */
export const DUPLICATE_KEY = 11_000

/**
 * Server codes that are an answer about what was asked, so that asking again brings the same: values and documents that
 * are wrong or too large (2, 9, 14, 22, 121, 10334, 17419 and 17420), namespaces and indexes that are there already, or are not, or differ
 * (26, 48, 67, 72, 85, 86), and duplicates.
 */
const ANSWERS = new Set([2, 9, 14, 22, 26, 48, 67, 72, 85, 86, 121, 10334, 17419, 17420, DUPLICATE_KEY])

/**
 * Whether an error says nothing about what was sent: a network, an election, a full disk, a password that was changed.
 * That is the rule and an answer about what was asked the exception, because who takes the one for the other parks good messages.
 */
export function isMongoUnavailable(error: unknown): boolean {
  // A bulk write wraps what befell its connection, so that it looks like an answer of the server.
  if (error instanceof MongoBulkWriteError && (error.errorResponse as unknown) instanceof Error) {
    return isMongoUnavailable(error.errorResponse)
  }
  // The driver lets some errors of the socket through as they are.
  if (error instanceof Error && 'syscall' in error) return true
  if (!(error instanceof MongoError) || error instanceof MongoInvalidArgumentError) return false
  return !(typeof error.code === 'number' && ANSWERS.has(error.code))
}

/** Runs a call to MongoDB; what fails because MongoDB is away becomes AppError `unavailable`, which is retried. */
export async function asUnavailable<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (!(error instanceof AppError) && isMongoUnavailable(error)) throw unavailable('MongoDB', error)
    throw error
  }
}
