/** The port that reads a provider's own data, for second looks, hints, sweeps and the baseline. */
import type { ReadObject, ReadTarget } from '@backstop/contracts'
import type { Clock } from '@backstop/kit/clock'
import type { Secret } from '@backstop/kit/config'
import type { Egress } from '@backstop/kit/egress'

/** The address and key of one connection's provider. */
export interface ReaderOptions {
  readonly readKey: Secret
  /** The provider's site (subscription only). */
  readonly site: string | null
  /** The address to use instead of the provider's public address. The egress checks it like every URL that users set. */
  readonly apiBase: string | null
  readonly egress: Egress
  readonly clock: Clock
  /** A random number from 0 to 1, for jitter. */
  readonly random: () => number
}

/** The reasons why a read of a provider failed. */
export type ReadFailure =
  /** Status 401 or 403: the key is wrong or lacks a right. A retry does not help until a person changes the key. */
  | 'key_refused'
  /** Status 429 until the deadline of the caller. */
  | 'rate_limited'
  /** Status 5xx, or an error code of the provider for "try again later". */
  | 'provider_unavailable'
  /** No answer in time, or no connection. */
  | 'unreachable'
  /** The network policy of this installation blocks the address. */
  | 'address_refused'
  /** An answer that breaks the API's contract: too large, no JSON, required fields missing. */
  | 'answer_malformed'
  /** Any other status 4xx: the request is wrong. */
  | 'question_refused'

export type ReadResult =
  | { readonly kind: 'read'; readonly objects: readonly ReadObject[] }
  /** None of the targets exists at the provider. The read was repeated, because replicas may lag. */
  | { readonly kind: 'not_found' }
  | {
      readonly kind: 'failed'
      readonly failure: ReadFailure
      /** The cause and the remedy for people. It does not contain the key. */
      readonly text: string
      /** The wait that the provider asked for, in milliseconds; null if it asked for none. */
      readonly retryAfterMs: number | null
    }

/** An event in the provider's list. Comparing it with the received events shows whether notifications arrive. */
export interface ListedEvent {
  readonly eventId: string
  readonly eventType: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
}

/** The longest time for one page of a sweep, in milliseconds. */
export const PAGE_DEADLINE_MS = 60_000

/** The position at which a sweep continues. Only the provider's reader interprets it. */
export type SweepCursor = Readonly<Record<string, string>>

export type SweepPage =
  | {
      readonly kind: 'page'
      readonly objects: readonly ReadObject[]
      readonly events: readonly ListedEvent[]
      readonly cursor: SweepCursor
      /** True if the cursor has reached the present. */
      readonly done: boolean
      /** Only if `done`: every change up to this time was read, also if it became visible late, in milliseconds since the epoch. */
      readonly readUntil?: number
    }
  | Extract<ReadResult, { kind: 'failed' }>

/** The health of a provider: the result of the last request to it, or `untried` before the first request. */
export type ProviderHealth = 'untried' | 'answering' | 'failing'

/**
 * Reads from the provider of one connection. `read` retries within its deadline, with backoff, jitter and Retry-After. No method
 * throws. All callers of a reader share the provider's rate limit, so a process needs one reader for each connection.
 */
export interface ProviderReader {
  /** While `failing`, requests have pauses and short timeouts until the provider answers. */
  readonly health: ProviderHealth
  /**
   * Reads the present state of the targets. Missing targets are read again for five seconds.
   * @param deadlineMs milliseconds from now
   */
  read(targets: readonly ReadTarget[], deadlineMs: number, signal?: AbortSignal): Promise<ReadResult>
  /**
   * Reads the next page of changes: refunds, adjustments, transactions, subscriptions, and sent events. Takes at most
   * PAGE_DEADLINE_MS. A failure is not retried, because the caller retries later and holds no slot until then. No change is
   * skipped. Recent changes are read again after `done`, because some become visible late.
   * @param cursor the position to continue at, also after `done`; null starts at `since`
   * @param since milliseconds since the epoch
   */
  changes(cursor: SweepCursor | null, since: number, signal?: AbortSignal): Promise<SweepPage>
  /**
   * Reads the next page of subscriptions that are paused, or have a scheduled end or pause: the baseline of a new connection.
   * Pages may be empty, and take at most PAGE_DEADLINE_MS.
   */
  schedules(cursor: SweepCursor | null, signal?: AbortSignal): Promise<SweepPage>
}

/** The rate limit to keep. It is lower than the provider's published limit. */
export interface ReadLimits {
  readonly requestsPerMinute: number
  readonly concurrent: number
}

export interface ReadBack {
  readonly limits: ReadLimits
  /** Hosts of the provider's API. `*.` matches one label, such as a site. An operator must allow other hosts. */
  readonly apiHosts: readonly string[]
  /** True if the form of a key shows that it allows changes of live data. Absent if keys of the provider do not show their rights. */
  hasFullAccess?(readKey: string): boolean
  /** The targets to read for an object that an event or an operation names. */
  targetsOf(what: {
    readonly action: 'refund' | 'cancellation'
    readonly providerRef: string | null
    readonly objectIds: readonly string[]
    /** To read also the customer and the number of the payment, if the provider has them in another object. */
    readonly details?: true
  }): readonly ReadTarget[]
  open(options: ReaderOptions): ProviderReader
}
