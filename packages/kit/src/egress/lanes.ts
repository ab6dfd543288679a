import { Pool, ProxyAgent } from 'undici'
import type { Connector } from './connector.ts'
import { MeteredClient } from './socket-meter.ts'

/** What undici's pools and proxy agents have in common and is used here. */
export type Dispatcher = Pool | ProxyAgent

export interface LaneOptions {
  readonly connector: Connector
  readonly connectionsPerHost: number
  readonly connectTimeoutMs: number
  readonly headersTimeoutMs: number
  readonly proxyUrl: string | undefined
  readonly verifyTls: boolean
}

/**
 * Connection pools, one for each lane and origin. A lane is a bulkhead: requests of one lane never wait for a
 * connection that another lane holds, even when both post to the same host.
 */
export class Lanes {
  readonly #options: LaneOptions
  readonly #lanes = new Map<string, { dispatcher: Dispatcher; inFlight: number; idleSinceMs: number }>()
  #closing: Promise<unknown>[] = []

  constructor(options: LaneOptions) {
    this.#options = options
  }

  /** Runs `use` with the pool of this lane and origin. */
  async run<T>(lane: string, origin: string, use: (dispatcher: Dispatcher) => Promise<T>): Promise<T> {
    const key = `${lane}\n${origin}`
    let entry = this.#lanes.get(key)
    if (entry === undefined) {
      this.#closeIdle()
      entry = { dispatcher: this.#open(origin), inFlight: 0, idleSinceMs: 0 }
      this.#lanes.set(key, entry)
    }
    entry.inFlight++
    try {
      return await use(entry.dispatcher)
    } finally {
      entry.inFlight--
      entry.idleSinceMs = performance.now()
    }
  }

  async stop(): Promise<void> {
    const open = [...this.#lanes.values()].map(entry => entry.dispatcher.destroy())
    this.#lanes.clear()
    await Promise.all([...open, ...this.#closing])
  }

  /** Looked at when a lane opens: the only moment at which their number can grow. */
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
    const { connector, connectionsPerHost, connectTimeoutMs, headersTimeoutMs, proxyUrl, verifyTls } = this.#options
    const common = {
      connections: connectionsPerHost,
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
      // Plain http too goes through a CONNECT tunnel, so that the proxy checks addresses the same way for both.
      proxyTunnel: true,
      requestTls: { minVersion: 'TLSv1.2', rejectUnauthorized: verifyTls },
    })
  }
}

const meteredClient = (origin: URL, options: object) => new MeteredClient(origin, options)

const IDLE_LANE_MS = 30_000
/** Of the head of an answer, of each interim response and of the trailers; Node's own default may be set by a flag. */
const MAX_HEADER_BYTES = 16_384
/** Shorter than what receivers keep, or else a POST meets a connection that has just been closed. */
const KEEP_ALIVE_MS = 4_000
