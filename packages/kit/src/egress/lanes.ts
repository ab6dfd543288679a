import { Pool, ProxyAgent } from 'undici'
import type { Connector } from './connector.ts'
import { MeteredClient } from './socket-meter.ts'

export type Dispatcher = Pool | ProxyAgent

export interface LaneOptions {
  readonly connector: Connector
  readonly connectTimeoutMs: number
  readonly headersTimeoutMs: number
  readonly proxyUrl: string | undefined
  readonly verifyTls: boolean
}

export interface Lane {
  readonly dispatcher: Dispatcher
  inFlight: number
  idleSinceMs: number
}

/**
 * Connection pools, one per lane and origin. Requests in one lane never wait for a connection of another lane, even if
 * both use the same host.
 */
export class ConnectionLanes {
  readonly #options: LaneOptions
  readonly #lanes = new Map<string, Lane>()
  #closing: Promise<unknown>[] = []

  constructor(options: LaneOptions) {
    this.#options = options
  }

  /** The lane with the pool for this origin. It stays open until each `enter` was followed by a `leave`. */
  enter(lane: string, origin: string): Lane {
    const key = `${lane}\n${origin}`
    let entry = this.#lanes.get(key)
    if (entry === undefined) {
      this.#closeIdle()
      entry = { dispatcher: this.#open(origin), inFlight: 0, idleSinceMs: 0 }
      this.#lanes.set(key, entry)
    }
    entry.inFlight++
    return entry
  }

  leave(lane: Lane): void {
    lane.inFlight--
    lane.idleSinceMs = performance.now()
  }

  async stop(): Promise<void> {
    const open = [...this.#lanes.values()].map(entry => entry.dispatcher.destroy())
    this.#lanes.clear()
    await Promise.all([...open, ...this.#closing])
  }

  /** Closes idle pools. Called when a pool is opened, because only then does their number grow. */
  #closeIdle(): void {
    const now = performance.now()
    for (const [key, entry] of this.#lanes) {
      if (entry.inFlight > 0 || now - entry.idleSinceMs < IDLE_LANE_MS) continue
      this.#lanes.delete(key)
      const closed: Promise<unknown> = entry.dispatcher.destroy().finally(() => {
        this.#closing = this.#closing.filter(one => one !== closed)
      })
      this.#closing.push(closed)
    }
  }

  #open(origin: string): Dispatcher {
    const { connector, connectTimeoutMs, headersTimeoutMs, proxyUrl, verifyTls } = this.#options
    const common = {
      connections: CONNECTIONS_PER_HOST,
      pipelining: 1,
      allowH2: false,
      headersTimeout: headersTimeoutMs,
      maxHeaderSize: MAX_HEADER_BYTES,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
    }
    if (proxyUrl === undefined) return new Pool(origin, { ...common, connect: connector, factory: meteredClient })
    return new ProxyAgent({
      ...common,
      factory: (origin, options) => new Pool(origin, { ...options, factory: meteredClient }),
      uri: proxyUrl,
      connectTimeout: connectTimeoutMs,
      // Plain http uses a CONNECT tunnel, too, so that the proxy checks addresses in the same way.
      proxyTunnel: true,
      requestTls: { minVersion: 'TLSv1.2', rejectUnauthorized: verifyTls },
    })
  }
}

const meteredClient = (origin: URL, options: object) => new MeteredClient(origin, options)

/** For each lane. */
const CONNECTIONS_PER_HOST = 4
const IDLE_LANE_MS = 30_000
/**
 * Maximum header size of an answer, an interim response or trailers, in bytes. Set explicitly, because a flag can
 * change the default of Node.js.
 */
const MAX_HEADER_BYTES = 16_384
/**
 * Shorter than the time that receivers keep idle connections, so that a POST does not use a connection that was just
 * closed.
 */
const KEEP_ALIVE_MS = 4_000
