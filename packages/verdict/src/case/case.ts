import type {
  Difference,
  Names,
  Operation,
  OutboxEntry,
  OutOfBand,
  ProviderKind,
  ReadReason,
} from '@backstop/contracts'
import type { ObservedSubscription } from '@backstop/providers'
import type { ActionRecord, Look, ObjectRecord, SeenThrough } from './action-record.ts'
import type { KnownDetails } from './details.ts'
import type { ExpectedChange } from './expected-change.ts'

/**
 * One payment or one subscription of a project. One document holds everything that a verdict depends on, so that a
 * compare-and-set on `version` detects concurrent writers. Times are milliseconds since the epoch.
 */
export interface Case {
  readonly id: string
  readonly projectId: string
  /** 0 until the case is stored; each write adds one. */
  readonly version: number
  /** Every reference that leads to this case. A unique index ensures that a reference leads to one case only. */
  readonly refs: readonly string[]
  readonly actions: readonly ActionRecord[]
  /**
   * Records that turned out to be part of another record. Their projections are kept and marked as merged, because
   * alerts may have named them.
   */
  readonly merged: readonly MergedRecord[]
  /** Summaries of the records that were removed to limit the size of the case (evict.ts), oldest first. */
  readonly evicted: readonly EvictedRecord[]
  readonly refundTotals: readonly RefundTotal[]
  readonly subscriptions: readonly SubscriptionRow[]
  /**
   * The operations that name this payment or subscription, as the `operations` topic or the ledger last showed them.
   */
  readonly operations: readonly Operation[]
  readonly followedOperations: readonly FollowedOperation[]
  /** The expected changes that were loaded for this case. Some may be about another subject. */
  readonly expectedChanges: readonly ExpectedChange[]
  readonly outbox: readonly CaseOutboxEntry[]
  readonly createdAt: number
  /** The names for alerts, by the id of the connection, as they were at its last sighting. */
  readonly names?: Readonly<Record<string, Names>>
  /**
   * The rule about second refunds, by the id of the connection, as it was at its last sighting; null if it was switched off. Absent if no
   * connection ever had the rule.
   */
  readonly refundedTwice?: RefundedTwiceSettings
  /** The requests by which the customer was erased. Later sightings keep no data of the customer. Absent if there are none. */
  readonly personErasures?: readonly string[]
  /** Ids of customers whose data stays, after a merge of their payment with that of an erased customer. Absent if there are none. */
  readonly otherCustomers?: readonly string[]
}

/** The setting of one connection for the rule about second refunds (incident/refunded-twice.ts). */
export interface RefundedTwiceSetting {
  readonly withinMs: number
  readonly outOfBand: OutOfBand
}

export type RefundedTwiceSettings = Readonly<Record<string, RefundedTwiceSetting | null>>

export type CaseOutboxEntry = OutboxEntry & {
  /** When the entry was written. The outbox sweeper publishes entries that stay too long. */
  readonly at: number
}

/** The connection, and the event or re-read, that showed something. */
export interface SightingSource {
  readonly connection: SeenThrough
  /** The event that reported the change, or the hint; null if the provider was read without an event. */
  readonly eventId: string | null
  readonly eventType: string
  /** Why the provider was read; null if a signed event showed the change. */
  readonly readFor: ReadReason | null
  /** Absent if the connection is unknown. */
  readonly names?: Names
  /** Absent if the rule is off. */
  readonly refundedTwice?: RefundedTwiceSetting
}

export interface MergedRecord {
  readonly record: ActionRecord
  /** The id of the record that this one is a part of. */
  readonly into: string
}

/**
 * The kept data of an evicted record. If an event about the action arrives later, the record is created again from this
 * data.
 */
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
    | 'requestIds'
    | 'operationId'
  > {
  /** The id of the action. It is kept when the record is created again. */
  readonly actionId: string
  /** Every id that a provider uses for the action. */
  readonly refs: readonly string[]
}

/** The refunded total of a charge at the time of one event (see ObservedRefundTotal, and refund-totals.ts). */
export interface RefundTotal {
  /** Also the id of its look and of its provisional action. */
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
  readonly isReleasedAuthorization?: true
  readonly currency: string
  readonly chargeCreatedAt?: number | null
  readonly observedAt: number
  readonly idempotencyKey: string | null
  readonly requestId?: string | null
  readonly eventIds: readonly string[]
  /** Its origin is that of the refund which the total proves. The other details are those of the charge. */
  readonly details?: KnownDetails
  /** Null until the total proves a refund that no known refund accounts for. */
  readonly look: Look | null
}

/**
 * The history of one subscription. Its cancellations and pauses are derived from the snapshots (subscription-row.ts).
 */
export interface SubscriptionRow {
  readonly identity: string
  readonly provider: ProviderKind
  readonly subject: string
  readonly objectIds: readonly string[]
  /** In the order of the provider's versions or times. */
  readonly snapshots: readonly Snapshot[]
  /** Details that are the same for all changes of the subscription. */
  readonly details?: KnownDetails
}

/** The state of a subscription at one time, and the sources that showed it. */
export interface Snapshot
  extends Pick<ObservedSubscription, 'asOf' | 'cancellation' | 'requestReportedAt' | 'pause' | 'before' | 'source'> {
  readonly isBaseline: boolean
  readonly isPastDue: boolean
  readonly seenThrough: readonly SeenThrough[]
  readonly idempotencyKeys: readonly string[]
  /** Ids of the requests that led to this state. Absent if none is known. */
  readonly requestIds?: readonly string[] | undefined
  readonly eventIds: readonly string[]
  /** Details of the change that led to this state. */
  readonly details?: KnownDetails
}

/** The actions that the reconciler has taken about one operation, so that it takes each only once. */
export interface FollowedOperation {
  readonly operationId: string
  /** The pending check of the operation at the provider; null if none is needed. */
  readonly look: (Look & { readonly why: Extract<ReadReason, 'missing_check' | 'settlement'> }) | null
  /** The sets of differing fields that were alerted. */
  readonly reportedDrifts: readonly (readonly Difference['field'][])[]
  /** The outcome that was reported to the ledger; null while the provider has not decided. */
  readonly outcome: 'completed' | 'failed' | 'rejected' | null
}

/** The list, with this connection added if it is missing. */
export function withConnection(list: readonly SeenThrough[], connection: SeenThrough): readonly SeenThrough[] {
  return list.some(seen => seen.id === connection.id) ? list : [...list, connection]
}

/** The case with the names and the setting of the connection that showed something. Returns the same case if it has them. */
export function withConnectionFacts(theCase: Case, { connection: { id }, names, refundedTwice }: SightingSource): Case {
  const known = theCase.names?.[id]
  const isKnown = names === undefined || (known?.project === names.project && known.connection === names.connection)
  const named = isKnown ? theCase : { ...theCase, names: { ...theCase.names, [id]: names } }
  const setting = theCase.refundedTwice?.[id]
  if (setting?.withinMs === refundedTwice?.withinMs && setting?.outOfBand === refundedTwice?.outOfBand) return named
  return { ...named, refundedTwice: { ...theCase.refundedTwice, [id]: refundedTwice ?? null } }
}

/** A copy of the list with another entry at `index`. */
export function replaceAt<T>(list: readonly T[], index: number, entry: T): readonly T[] {
  return list.with(index, entry)
}

/** The list with the missing entries of `more` added. */
export function withAll<T>(list: readonly T[], more: readonly T[]): readonly T[] {
  const missing = more.filter(item => !list.includes(item))
  return missing.length === 0 ? list : [...list, ...missing]
}

/** The ids of requests in either list; absent if there is none. */
export function joinRequestIds(
  known: readonly string[] | undefined,
  seen: readonly string[] | undefined,
): readonly string[] | undefined {
  return known === undefined || seen === undefined ? (known ?? seen) : withAll(known, seen)
}

/** Returns the same list if no item changes. */
export function mapChanged<T>(list: readonly T[], change: (item: T) => T): readonly T[] {
  const changed = list.map(change)
  return changed.every((item, index) => item === list[index]) ? list : changed
}

/** The case with each record changed. Returns the same case if no record changes. */
export function changeRecords(theCase: Case, change: (record: ActionRecord) => ActionRecord): Case {
  const actions = mapChanged(theCase.actions, change)
  return actions === theCase.actions ? theCase : { ...theCase, actions }
}

/** The case with more messages in its outbox. */
export function withMessages(theCase: Case, ...entries: readonly CaseOutboxEntry[]): Case {
  return { ...theCase, outbox: [...theCase.outbox, ...entries] }
}

/** The case with this version of a record, which is added if it is new. */
export function withRecord(theCase: Case, record: ActionRecord): Case {
  const index = theCase.actions.findIndex(action => action.id === record.id)
  return { ...theCase, actions: index < 0 ? [...theCase.actions, record] : replaceAt(theCase.actions, index, record) }
}
