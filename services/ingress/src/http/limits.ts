/**
 * The fixed limits of ingress. config.ts has the limits that an operator sets: bytes of all bodies, time for a body, events and bytes
 * that wait for Kafka, sockets, and the rate of one billing connection.
 */

/** Limit for the bytes of one body: 1 MiB. It is the same for all providers and part of the public interface. */
export const MAX_BODY_BYTES = 1_048_576
export const MAX_HEADERS = 100
/** Limit for the bytes of all headers of one request. */
export const MAX_HEADERS_BYTES = 16_384
/** The answer to the last allowed request of a socket says `Connection: close`. */
export const MAX_REQUESTS_PER_SOCKET = 1_000

/** Times of Node's HTTP server, in milliseconds. */
export const SERVER_TIMES = {
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  /**
   * Longer than the 60 s for which load balancers keep an idle connection, so that a load balancer never sends a request into a
   * connection that was just closed.
   */
  keepAliveTimeout: 75_000,
  /**
   * How often Node looks for timed-out requests. With its default of 30 s, a timeout of 10 s would take up to 40 s. A short interval also
   * spreads the work when many clients time out together.
   */
  connectionsCheckingInterval: 200,
} as const

/** Limits of one send to Kafka, and the number of sends in flight per topic. */
export const SEND_LIMITS = { batchMessages: 200, batchBytes: 700_000, sendsInFlight: 3 } as const
/** Pause between two probes of a broker that is unavailable, in milliseconds. */
export const PROBE_INTERVAL_MS = 500

/** How long requests in flight may take to finish when the process stops, in milliseconds. Slower requests are cut off. */
export const DRAIN_MS = 10_000

/** `Retry-After` in seconds: an outage of Kafka or MongoDB lasts longer than overload. */
export const RETRY_AFTER_S = { unavailable: 30, overloaded: 10 } as const
