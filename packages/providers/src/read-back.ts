/** A provider's own data, as its API gives it: what the second look, hints, sweeps and the baseline ask. */
import type { ReadObject, ReadTarget } from '@backstop/contracts'
import type { Clock, Egress, Secret } from '@backstop/kit'

/** One connection's way to its provider's API. */
export interface ReaderOptions {
  readonly readKey: Secret
  /** The provider's site (subscription only). */
  readonly site: string | null
  /** Instead of the provider's public address; guarded like every URL that a user sets. */
  readonly apiBase: string | null
  readonly egress: Egress
  readonly clock: Clock
  /** From 0 to 1, for jitter. */
  readonly random: () => number
}

/** Every way in which a provider does not answer what was asked. */
export type ReadFailure =
  /** 401, 403: the key is wrong or lacks a right. Asking again is of no use before a person acts. */
  | 'key_refused'
  /** 429 beyond what was waited for. */
  | 'rate_limited'
  /** 5xx, and the provider's own words for "not now". */
  | 'provider_unavailable'
  /** Nothing came in time, or no connection could be made. */
  | 'unreachable'
  /** The address is one that this installation does not let users reach. */
  | 'address_refused'
  /** An answer that is not what the API promises: too large, no JSON, without the fields that matter. */
  | 'answer_malformed'
  /** Any other 4xx: our question is wrong. */
  | 'question_refused'

export type ReadResult =
  | { readonly kind: 'read'; readonly objects: readonly ReadObject[] }
  /** The provider knows none of the targets, and it was asked again after a while, because its replicas lag. */
  | { readonly kind: 'not_found' }
  | {
      readonly kind: 'failed'
      readonly failure: ReadFailure
      /** In words a person can act on, without the key. */
      readonly text: string
      /** When the provider said to come again, in milliseconds from now; null where it did not say. */
      readonly retryAfterMs: number | null
    }

/** An event that the provider says it sent: for telling that its notifications do not reach us. */
export interface ListedEvent {
  readonly eventId: string
  readonly eventType: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
}

/** Longest that reading one page of a sweep takes, in milliseconds. */
export const PAGE_DEADLINE_MS = 60_000

/** Where a sweep goes on, in the provider's own terms: opaque to everyone else. */
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

/** Whether the provider answered last time; `untried` where it was not asked yet. */
export type Standing = 'untried' | 'answering' | 'failing'

/**
 * Asks one connection's provider. `read` retries within its deadline (backoff with jitter, Retry-After); nothing throws. It keeps to
 * the provider's rate limit by itself, for all that ask through it: a connection needs one reader in a process, not several.
 */
export interface ProviderReader {
  /** After a failure the provider is asked more rarely, and waited for less, until it answers. */
  readonly standing: Standing
  /**
   * Reads what the targets are now. What is not found is asked for again, for five seconds.
   * @param deadlineMs from now
   */
  read(targets: readonly ReadTarget[], deadlineMs: number, signal?: AbortSignal): Promise<ReadResult>
  /**
   * The next page of what changed: refunds, adjustments, transactions, subscriptions, and the events that were sent. Takes at
   * most PAGE_DEADLINE_MS. What fails is not tried again: the caller waits without a place, and comes again. Nothing is
   * skipped; what is recent comes again after `done`, because some of it appears late.
   * @param cursor where to go on, after `done` too; null begins at `since`
   * @param since milliseconds since the epoch
   */
  changes(cursor: SweepCursor | null, since: number, signal?: AbortSignal): Promise<SweepPage>
  /**
   * The next page of subscriptions that are paused, or whose end or pause is set for later: the baseline of a new connection.
   * Pages may be empty, and take at most PAGE_DEADLINE_MS.
   */
  schedules(cursor: SweepCursor | null, signal?: AbortSignal): Promise<SweepPage>
}

/** Requests that the provider allows, with a margin below its published limit. */
export interface ReadLimits {
  readonly requestsPerMinute: number
  readonly concurrent: number
}

export interface ReadBack {
  readonly limits: ReadLimits
  /** Hosts of the provider's own API; `*.` stands for one label, such as a site. Others take an operator's permission. */
  readonly apiHosts: readonly string[]
  /** The targets whose answers tell all about an object that an event or an operation names. */
  targetsOf(what: {
    readonly action: 'refund' | 'cancellation'
    readonly providerRef: string | null
    readonly objectIds: readonly string[]
  }): readonly ReadTarget[]
  open(options: ReaderOptions): ProviderReader
}
