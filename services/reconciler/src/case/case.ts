import type { Difference, Operation, OutboxEntry, ProviderKind, ReadReason } from '@backstop/contracts'
import type { ObservedSubscription } from '@backstop/providers'
import type { ActionRecord, Look, ObjectRecord, SeenThrough } from './action-record.ts'
import type { ExpectedChange } from './expected-change.ts'

/**
 * One payment or one subscription of a project: everything that a verdict depends on, in one document, so that one
 * compare-and-set on `version` decides between any two writers. Times are milliseconds since the epoch.
 */
export interface Case {
  readonly id: string
  readonly projectId: string
  /** 0 until it is stored; grows by one with each write. */
  readonly version: number
  /** Every reference that leads here. A reference leads to one case only (a unique index is what makes it so). */
  readonly refs: readonly string[]
  readonly actions: readonly ActionRecord[]
  /** Records that turned out to be another one's: their projections stay, marked, because alerts may have named them. */
  readonly merged: readonly MergedRecord[]
  /** What stays of evicted records (evict.ts), oldest first. */
  readonly evicted: readonly EvictedRecord[]
  readonly refundTotals: readonly RefundTotal[]
  readonly subscriptions: readonly SubscriptionRow[]
  /** The operations that name it, as the `operations` topic or the ledger last told. */
  readonly operations: readonly Operation[]
  readonly followedOperations: readonly FollowedOperation[]
  /** The expected changes of people that were found for it, whatever they are about: what they explain is judged like all else. */
  readonly expectedChanges: readonly ExpectedChange[]
  readonly outbox: readonly CaseOutboxEntry[]
  readonly createdAt: number
}

export type CaseOutboxEntry = OutboxEntry & {
  /** When it was written: the sweeper publishes what lies here too long. */
  readonly at: number
}

/** Where a sighting comes from. */
export interface SightingSource {
  readonly connection: SeenThrough
  /** The event that told, or hinted; null for what was read without one. */
  readonly eventId: string | null
  readonly eventType: string
  /** Why the provider was read; null for what its signed event told. */
  readonly reading: ReadReason | null
}

export interface MergedRecord {
  readonly record: ActionRecord
  /** The id of the record that it turned out to be. */
  readonly into: string
}

/** What stays of a record that was given up: should an event about it come after all, it is made anew with what it had. */
export interface EvictedRecord
  extends Pick<
    ObjectRecord,
    | 'identity'
    | 'kind'
    | 'sides'
    | 'objectIds'
    | 'amount'
    | 'currency'
    | 'state'
    | 'providerCreatedAt'
    | 'idempotencyKeys'
    | 'operationId'
  > {
  /** Its name for good. */
  readonly actionId: string
  /** Every id by which a provider calls it. */
  readonly refs: readonly string[]
}

/** How much of a charge was refunded when one event was made (see ObservedRefundTotal, and refund-totals.ts). */
export interface RefundTotal {
  /** Names its look and its provisional action. */
  readonly id: string
  /** Identity of the charge. */
  readonly identity: string
  readonly chargeId: string
  readonly provider: ProviderKind
  readonly subject: string
  readonly objectIds: readonly string[]
  readonly seenThrough: readonly SeenThrough[]
  readonly total: number
  readonly totalBefore: number | null
  readonly uncaptured?: number
  readonly currency: string
  readonly chargeCreatedAt?: number | null
  readonly observedAt: number
  readonly idempotencyKey: string | null
  readonly requestId?: string | null
  readonly eventIds: readonly string[]
  /** Null until it proves a refund that nothing else shows. */
  readonly look: Look | null
}

/** What is known of one subscription over time: its cancellations and pauses are read off this (subscription-row.ts). */
export interface SubscriptionRow {
  readonly identity: string
  readonly provider: ProviderKind
  readonly subject: string
  readonly objectIds: readonly string[]
  /** In the provider's own order. */
  readonly snapshots: readonly Snapshot[]
}

/** How a subscription stood at one moment, and what showed it. */
export interface Snapshot extends Pick<ObservedSubscription, 'asOf' | 'cancellation' | 'pause' | 'before' | 'source'> {
  readonly isBaseline: boolean
  readonly isPastDue: boolean
  readonly seenThrough: readonly SeenThrough[]
  readonly idempotencyKeys: readonly string[]
  readonly eventIds: readonly string[]
}

/** What was done about one operation, so that it is done once. */
export interface FollowedOperation {
  readonly operationId: string
  /** The look at what the provider makes of it; null while none is wanted. */
  readonly look: (Look & { readonly why: Extract<ReadReason, 'missing_check' | 'settlement'> }) | null
  /** Each set of differing fields that people were told of. */
  readonly reportedDrifts: readonly (readonly Difference['field'][])[]
  /** What it was settled as; null while the provider has not decided. */
  readonly outcome: 'completed' | 'failed' | 'rejected' | null
}

/** The connections with this one among them. */
export function withConnection(list: readonly SeenThrough[], connection: SeenThrough): readonly SeenThrough[] {
  return list.some(seen => seen.id === connection.id) ? list : [...list, connection]
}

/** Replaces the entry at `index`; the list itself is never changed. */
export function replaceAt<T>(list: readonly T[], index: number, entry: T): readonly T[] {
  return list.with(index, entry)
}

/** The list with what it does not have yet. */
export function withAll<T>(list: readonly T[], more: readonly T[]): readonly T[] {
  const missing = more.filter(item => !list.includes(item))
  return missing.length === 0 ? list : [...list, ...missing]
}

/** The case with one of its records as it is now. */
export function withRecord(theCase: Case, record: ActionRecord): Case {
  const index = theCase.actions.findIndex(action => action.id === record.id)
  return { ...theCase, actions: index < 0 ? [...theCase.actions, record] : replaceAt(theCase.actions, index, record) }
}
