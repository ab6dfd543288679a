import type { ConnectionDocument } from '@backstop/contracts'
import { type Clock, sleep } from '@backstop/kit/clock'
import type { Logger } from '@backstop/kit/logger'
import { isMongoUnavailable } from '@backstop/kit/mongo'
import type { SecretBox } from '@backstop/kit/secret-box'
import type { ChangeStream, ChangeStreamDocument, Collection, Db } from 'mongodb'
import { type Connections, type InboundConnection, toInboundConnection, usedFieldsOf } from './connections.ts'

export interface MongoConnectionsOptions {
  readonly db: Db
  readonly secretBox: SecretBox
  readonly clock: Clock
  readonly logger: Logger
  /** How often all connections are loaded again, in case the change stream missed a change, in milliseconds. */
  readonly reloadMs: number
}

type Change = ChangeStreamDocument<ConnectionDocument>

/** How long one read of the change stream waits for changes, in milliseconds. Changes arrive at once; reloading may wait as long. */
const STREAM_WAIT_MS = 1_000
const FIRST_RETRY_PAUSE_MS = 200
const MAX_RETRY_PAUSE_MS = 5_000
const NOT_DELETED: { status: { $ne: 'deleted' } } = { status: { $ne: 'deleted' } }

/** Loads all connections from the collection `connections` and follows its change stream. */
export function createMongoConnections(options: MongoConnectionsOptions): Connections {
  return new MongoConnections(options)
}

class MongoConnections implements Connections {
  readonly #collection: Collection<ConnectionDocument>
  readonly #options: MongoConnectionsOptions
  readonly #stopping = new AbortController()
  #connections = new Map<string, InboundConnection>()
  #loadedAtMs: number | undefined
  #stream: ChangeStream<ConnectionDocument, Change> | undefined
  #following: Promise<void> | undefined

  constructor(options: MongoConnectionsOptions) {
    this.#options = options
    this.#collection = options.db.collection('connections')
  }

  async start(): Promise<void> {
    this.#following = this.#followForEver()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#stream?.close().catch(() => {})
    await this.#following
  }

  isLoaded(): boolean {
    return this.#loadedAtMs !== undefined
  }

  count(): number {
    return this.#connections.size
  }

  find(connectionId: string): InboundConnection | undefined {
    return this.#connections.get(connectionId)
  }

  async #followForEver(): Promise<void> {
    const { clock, logger } = this.#options
    const { signal } = this.#stopping
    let pauseMs = FIRST_RETRY_PAUSE_MS
    while (!signal.aborted) {
      const beganMs = clock.now()
      try {
        await this.#follow()
      } catch (error) {
        if (signal.aborted) return
        // Loaded connections stay in use. Their secrets still expire at their own times.
        const level = isMongoUnavailable(error) ? 'warn' : 'error'
        logger[level]({ error, held: this.#connections.size, retry_ms: pauseMs }, 'connections.feed_lost')
      }
      if (clock.now() - beganMs > MAX_RETRY_PAUSE_MS) pauseMs = FIRST_RETRY_PAUSE_MS
      await sleep(clock, pauseMs, signal)
      pauseMs = Math.min(pauseMs * 2, MAX_RETRY_PAUSE_MS)
    }
  }

  /**
   * Opens the stream before it loads, so that no change between the two is missed, then applies changes until the stream fails. After a
   * failure it loads everything again, which is cheap and needs no resume token that could be too old.
   */
  async #follow(): Promise<void> {
    const stream = this.#collection.watch<ConnectionDocument, Change>([], {
      fullDocument: 'updateLookup',
      maxAwaitTimeMS: STREAM_WAIT_MS,
    })
    this.#stream = stream
    try {
      let change = await stream.tryNext()
      await this.#load()
      while (!this.#stopping.signal.aborted) {
        if (change !== null) this.#apply(change)
        if (this.#isStale()) await this.#load()
        change = await stream.tryNext()
      }
    } finally {
      this.#stream = undefined
      await stream.close().catch(() => {})
    }
  }

  #isStale(): boolean {
    return this.#options.clock.now() - (this.#loadedAtMs ?? 0) >= this.#options.reloadMs
  }

  async #load(): Promise<void> {
    const { clock, logger } = this.#options
    const beganMs = clock.now()
    const loaded = new Map<string, InboundConnection>()
    for await (const document of this.#collection.find(NOT_DELETED)) {
      const connection = this.#prepare(document)
      if (connection !== undefined) loaded.set(document._id, connection)
    }
    const isFirst = this.#loadedAtMs === undefined
    this.#connections = loaded
    this.#loadedAtMs = clock.now()
    logger[isFirst ? 'info' : 'debug'](
      { held: loaded.size, duration_ms: this.#loadedAtMs - beganMs },
      'connections.loaded',
    )
  }

  #apply(change: Change): void {
    if (change.operationType === 'invalidate') throw new Error('The collection of connections was dropped')
    if (!('documentKey' in change)) return
    const id = String(change.documentKey._id)
    const document = 'fullDocument' in change ? change.fullDocument : undefined
    // A deletion, or an update of a document that was deleted before MongoDB looked it up for this event.
    if (document === undefined || document === null) {
      if (change.operationType === 'delete' || change.operationType === 'update') this.#connections.delete(id)
      return
    }
    // The stream may report an older version than the load has read.
    if ((this.#connections.get(id)?.version ?? 0) > document.version) return
    const connection = this.#prepare(document)
    if (connection === undefined) this.#connections.delete(id)
    else this.#connections.set(id, connection)
  }

  /** Opening secrets is the expensive part of a reload, so an unchanged connection is reused. */
  #prepare(document: ConnectionDocument): InboundConnection | undefined {
    const known = this.#connections.get(document._id)
    if (known !== undefined && known.usedFields === usedFieldsOf(document)) return known
    return toInboundConnection(document, this.#options.secretBox, this.#options.logger)
  }
}
