import { type Db, MongoBulkWriteError, MongoClient, MongoError, MongoInvalidArgumentError } from 'mongodb'
import type { Secret } from '../config/secret.ts'
import type { CredentialWatch } from '../credentials/credential-watch.ts'
import type { TlsMaterial } from '../credentials/tls-material.ts'
import { AppError, missingRight, unavailable } from '../errors.ts'
import type { Metrics } from '../ops/metrics.ts'
import { reportConnections, useLatestLogin } from './live-credentials.ts'
import { describeMissingRight, nameRefusedUser } from './missing-right.ts'
import { observeMongo } from './mongo-metrics.ts'

export interface MongoOptions {
  readonly url: Secret
  readonly dbName: string
  /** The name of this client in the server's log and in currentOp. */
  readonly appName: string
  /**
   * True if the driver must repeat a write that an election interrupted; true by default. Set false if the caller
   * repeats the whole batch anyway: the server then keeps no record of each update, which saves a sixth of its time for
   * updates.
   */
  readonly retryWrites?: boolean
  /** How long a command may take to answer, in milliseconds; 0 without a limit, 30,000 by default. */
  readonly answerWithinMs?: number
  /** TLS with these files; by default TLS as the URL says. */
  readonly tls?: TlsMaterial | undefined
  /** Hears of every accepted and every failed connection. */
  readonly watch?: CredentialWatch | undefined
  /** Where the pool and the commands are recorded; nowhere if not set. */
  readonly metrics?: Metrics
}

export interface Mongo {
  readonly client: MongoClient
  readonly db: Db
  /** @throws AppError `unavailable` if no primary answers */
  ping(): Promise<void>
  stop(): Promise<void>
}

/** Maximum number of connections of one process to one server. */
export const MAX_CONNECTIONS = 20
/** How long an operation waits for a primary before it fails as unavailable, in milliseconds. */
const SERVER_SELECTION_TIMEOUT_MS = 5_000
/** How long an operation waits for a connection, in milliseconds. By default the driver waits without end. */
const WAIT_QUEUE_TIMEOUT_MS = 10_000

/**
 * Opens MongoDB. Every write waits for a majority and the journal. The write concern is explicit, because a replica set
 * with an arbiter defaults to one member. It connects in the background, so that a service starts while MongoDB is
 * unavailable.
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
    socketTimeoutMS: options.answerWithinMs ?? 30_000,
    maxPoolSize: MAX_CONNECTIONS,
    waitQueueTimeoutMS: WAIT_QUEUE_TIMEOUT_MS,
    ignoreUndefined: true,
    monitorCommands: true,
    ...(options.tls === undefined ? {} : { tls: true, secureContext: options.tls.liveContext }),
  })
  useLatestLogin(client, options.url)
  nameRefusedUser(client)
  if (options.watch !== undefined) reportConnections(client, options.watch)
  if (options.metrics !== undefined) observeMongo(client, options.metrics)
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
 * Retries the first connection until it succeeds, because after a failure the driver (7.9) keeps a closed topology, and
 * every later call fails. Once connected, the driver reconnects by itself.
 * @returns a function that ends the attempts
 */
function keepConnecting(client: MongoClient): () => void {
  let isStopped = false
  let timer: NodeJS.Timeout | undefined
  const attempt = (): void => {
    client.connect().then(
      () => (isStopped ? client.close() : undefined),
      () => {
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

/** The server's code for a document that a unique index refused. */
export const DUPLICATE_KEY = 11_000

/**
 * Server codes about the request itself, which a retry does not change: invalid or too large values and documents (2,
 * 9, 14, 22, 121, 10334, 17419, 17420), namespaces and indexes that exist, are missing or differ (26, 48, 67, 72, 85,
 * 86), and duplicates.
 */
const REQUEST_ERRORS = new Set([2, 9, 14, 22, 26, 48, 67, 72, 85, 86, 121, 10334, 17419, 17420, DUPLICATE_KEY])

/**
 * True if the error is about the server and not about the request: the network, an election, a full disk, a changed
 * password. True also for unknown errors, because the opposite mistake would dead-letter valid messages.
 */
export function isMongoUnavailable(error: unknown): boolean {
  // A bulk write wraps a connection error so that it looks like an answer of the server.
  if (error instanceof MongoBulkWriteError && (error.errorResponse as unknown) instanceof Error) {
    return isMongoUnavailable(error.errorResponse)
  }
  // The driver passes some socket errors on unchanged.
  if (error instanceof Error && 'syscall' in error) return true
  if (!(error instanceof MongoError) || error instanceof MongoInvalidArgumentError) return false
  return !(typeof error.code === 'number' && REQUEST_ERRORS.has(error.code))
}

/** Runs a call to MongoDB. Converts a failure of the server to AppError `unavailable`, which callers retry. */
export async function asUnavailable<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (error instanceof AppError || !isMongoUnavailable(error)) throw error
    const missing = describeMissingRight(error)
    if (missing !== undefined) throw missingRight(missing, error)
    throw unavailable('MongoDB', error)
  }
}

/** A store whose methods all fail like `asUnavailable` while MongoDB is unavailable. */
export function mongoStore<Store extends object>(store: Store): Store {
  const members = Object.entries(store).map(([name, member]) => [
    name,
    typeof member === 'function' ? (...args: unknown[]) => asUnavailable(async () => member(...args)) : member,
  ])
  return Object.fromEntries(members) as Store
}

/**
 * An option of queries for many documents of up to 16 MB. By default the first answer has 101 of them, so more need a second command.
 */
export const ONE_ANSWER = { batchSize: 10_000 } as const

/** How long MongoDB may work on the query of a list, in milliseconds. */
export const LIST_WITHIN_MS = 5_000
/** The server's code for a query that reached its `maxTimeMS`. */
const TIME_LIMIT_REACHED = 50

/** Runs the query of a list that has a `maxTimeMS`. Converts a failure of the server, or a query that took too long, to AppError `unavailable`. */
export function runListQuery<T>(query: () => Promise<T>): Promise<T> {
  return asUnavailable(async () => {
    try {
      return await query()
    } catch (error) {
      if (!(error instanceof MongoError) || error.code !== TIME_LIMIT_REACHED) throw error
      const message =
        'The list takes MongoDB too long; narrow it, for example to a project, a connection or a shorter time'
      throw new AppError('unavailable', message, { cause: error, retryable: true })
    }
  })
}
