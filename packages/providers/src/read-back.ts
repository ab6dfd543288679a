/** Reading a provider's own data: for second looks, hints, sweeps and the baseline. */
import type { ReadObject, ReadTarget } from '@backstop/contracts'
import type { Clock, Egress, Secret } from '@backstop/kit'

/** The address and key of one connection's provider. */
export interface ReaderOptions {
  readonly readKey: Secret
  /** The provider's site (subscription only). */
  readonly site: string | null
  /** Replaces the provider's public address. The egress checks it like every URL that users set. */
  readonly apiBase: string | null
  readonly egress: Egress
  readonly clock: Clock
  /** A random number from 0 to 1, for jitter. */
  readonly random: () => number
}

/** Why a provider could not be read. */
export type ReadFailure =
  /** 401, 403: the key is wrong or lacks a right. A retry does not help before a person acts. */
  | 'key_refused'
  /** 429, for longer than the caller waits. */
  | 'rate_limited'
  /** 5xx, and the provider's codes for "try again later". */
  | 'provider_unavailable'
  /** No answer in time, or no connection. */
  | 'unreachable'
  /** The network policy of this installation blocks the address. */
  | 'address_refused'
  /** An answer that breaks the API's contract: too large, no JSON, required fields missing. */
  | 'answer_malformed'
  /** Any other 4xx: the request is wrong. */
  | 'question_refused'

export type ReadResult =
  | { readonly kind: 'read'; readonly objects: readonly ReadObject[] }
  /** The provider knows none of the targets, also when asked again later (its replicas may lag). */
  | { readonly kind: 'not_found' }
  | {
      readonly kind: 'failed'
      readonly failure: ReadFailure
      /** For people: the cause and the remedy, without the key. */
      readonly text: string
      /** The wait that the provider asked for, in milliseconds; null: none. */
      readonly retryAfterMs: number | null
    }

/** An event in the provider's list: shows whether its notifications arrive. */
export interface ListedEvent {
  readonly eventId: string
  readonly eventType: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
}

/** The longest time for one page of a sweep, in milliseconds. */
export const PAGE_DEADLINE_MS = 60_000

/** Where a sweep continues: opaque outside the provider's reader. */
export type SweepCursor = Readonly<Record<string, string>>

export type SweepPage =
  | {
      readonly kind: 'page'
      readonly objects: readonly ReadObject[]
      readonly events: readonly ListedEvent[]
      readonly cursor: SweepCursor
      /** Whether the cursor has reached the present. */
      readonly done: boolean
    }
  | Extract<ReadResult, { kind: 'failed' }>

/** Whether the provider answered the last request; untried: it was not asked yet. */
export type Standing = 'untried' | 'answering' | 'failing'

/**
 * Reads from one connection's provider. `read` retries within its deadline (backoff with jitter, Retry-After). Nothing throws.
 * The reader keeps the provider's rate limit for all its callers, so a process needs one reader for each connection.
 */
export interface ProviderReader {
  /** After a failure, requests are rarer and time out sooner until the provider answers. */
  readonly standing: Standing
  /**
   * Reads the present state of the targets. Missing ones are read again for five seconds.
   * @param deadlineMs from now
   */
  read(targets: readonly ReadTarget[], deadlineMs: number, signal?: AbortSignal): Promise<ReadResult>
  /**
   * Reads the next page of changes: refunds, adjustments, transactions, subscriptions, and sent events. Takes at most
   * PAGE_DEADLINE_MS. A failure is not retried here: the caller waits without holding a slot. Nothing is skipped; recent changes
   * are read again after `done`, because some become visible late.
   * @param cursor where to continue, also after `done`; null begins at `since`
   * @param since milliseconds since the epoch
   */
  changes(cursor: SweepCursor | null, since: number, signal?: AbortSignal): Promise<SweepPage>
  /**
   * Reads the next page of subscriptions that are paused, or have a scheduled end or pause: the baseline of a new connection.
   * Pages may be empty, and take at most PAGE_DEADLINE_MS.
   */
  schedules(cursor: SweepCursor | null, signal?: AbortSignal): Promise<SweepPage>
}

/** The rate limit to keep, with a margin below the provider's published one. */
export interface ReadLimits {
  readonly requestsPerMinute: number
  readonly concurrent: number
}

export interface ReadBack {
  readonly limits: ReadLimits
  /** Hosts of the provider's API; `*.` stands for one label, such as a site. An operator must allow other hosts. */
  readonly apiHosts: readonly string[]
  /** The targets to read for an object that an event or an operation names. */
  targetsOf(what: {
    readonly action: 'refund' | 'cancellation'
    readonly providerRef: string | null
    readonly objectIds: readonly string[]
  }): readonly ReadTarget[]
  open(options: ReaderOptions): ProviderReader
}
