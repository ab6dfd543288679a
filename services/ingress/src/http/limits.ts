/**
 * The limits of ingress that no setting changes. config.ts has the limits that an operator sets: bytes of all bodies, time for a body,
 * events and bytes that wait for Kafka, sockets, and the rate of one billing connection.
 */

/** Bytes of one body. The same for all providers, and part of the interface. */
export const MAX_BODY_BYTES = 1_048_576
export const MAX_HEADERS = 100
/** Bytes of all headers of one request. */
export const MAX_HEADERS_BYTES = 16_384
/** The answer to the last one says `Connection: close`. */
export const MAX_REQUESTS_PER_SOCKET = 1_000

/** Times of Node's HTTP server, in milliseconds. */
export const SERVER_TIMES = {
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  /** Longer than a load balancer keeps an idle connection (60 s), so that it never sends into one that was just closed. */
  keepAliveTimeout: 75_000,
  /**
   * Node's own interval of 30 s would turn a timeout of 10 s into up to 40 s. A short interval also spreads the clients of a flood, which
   * time out together, over many checks.
   */
  connectionsCheckingInterval: 200,
} as const

/** What one send to Kafka may hold, and how many sends of one topic are in flight. */
export const SEND_LIMITS = { batchMessages: 200, batchBytes: 700_000, sendsInFlight: 3 } as const
/** Pause between two probes of a broker that is unavailable, in milliseconds. */
export const PROBE_INTERVAL_MS = 500

/** How long requests in flight may take to finish when the process stops, in milliseconds; slower ones are cut. */
export const DRAIN_MS = 10_000

/** `Retry-After` in seconds: an outage of Kafka or MongoDB lasts longer than overload. */
export const RETRY_AFTER_S = { unavailable: 30, overloaded: 10 } as const
