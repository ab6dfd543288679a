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

/** Asks one connection's provider. Retries within `deadlineMs` (backoff with jitter, Retry-After); never throws. */
export interface ProviderReader {
  read(targets: readonly ReadTarget[], deadlineMs: number, signal?: AbortSignal): Promise<ReadResult>
  /**
   * The next page of what changed: refunds, adjustments, transactions, subscriptions, and the events that were sent.
   * @param cursor null begins at `since`
   * @param since milliseconds since the epoch
   */
  changes(cursor: SweepCursor | null, since: number, signal?: AbortSignal): Promise<SweepPage>
  /** The next page of subscriptions whose end or pause is set for later: the baseline of a new connection. */
  schedules(cursor: SweepCursor | null, signal?: AbortSignal): Promise<SweepPage>
}

/** Requests that the provider allows, with a margin below its published limit. */
export interface ReadLimits {
  readonly requestsPerMinute: number
  readonly concurrent: number
}

export interface ReadBack {
  readonly limits: ReadLimits
  /** The targets whose answers tell all about an object that an event or an operation names. */
  targetsOf(what: {
    readonly action: 'refund' | 'cancellation'
    readonly providerRef: string | null
    readonly objectIds: readonly string[]
  }): readonly ReadTarget[]
  open(options: ReaderOptions): ProviderReader
}
