import type {
  Currency,
  Difference,
  IncidentCode,
  IncidentState,
  ObjectState,
  Operation,
  OutboxEntry,
  OutOfBand,
  ProviderKind,
  ReadReason,
  RecordKind,
  TimelineEntry,
  Verdict,
  VerdictReason,
  Why,
} from '@backstop/contracts'
import type { CameBack, EndCause, ObservedSubscription } from '@backstop/providers'
import type { z } from 'zod'
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
  /** What stays of old records that were given up (forget.ts), oldest first. */
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

/** Where an sighting comes from. */
export interface SightingSource {
  readonly connection: SeenThrough
  /** The event that told, or hinted; null for what was read without one. */
  readonly eventId: string | null
  readonly eventType: string
  /** Why the provider was read; null for what its signed event told. */
  readonly reading: ReadReason | null
}

/** A connection that an action was seen through. */
export interface SeenThrough {
  readonly id: string
  /** When the connection was made: what the provider made before is explained by that. */
  readonly createdAt: number
}

/** A look that is due at an absolute time, so that no restart shortens or resets it. */
export interface Look {
  readonly dueAt: number
  /** When the provider was asked last, or would have been if it could; null before. */
  readonly askedAt: number | null
  readonly doneAt: number | null
  /** Set where people were alerted although the provider had not answered. */
  readonly lateReading?: LateReading
}

/** The questions to the provider that follow an alert without its answer. */
export interface LateReading {
  /** Questions asked so far. */
  readonly tries: number
  /** When the next question is due; null when none is. */
  readonly nextAt: number | null
  /** What the provider answered in the end; null before. */
  readonly outcome: 'confirmed' | 'not_found' | null
}

/** One refund or cancellation, or one of the other things that are recorded, with all that is known of it. */
export interface ActionRecord {
  readonly id: string
  /** The same for every event about it. A provisional action takes over the identity of the refund it turns out to be. */
  readonly identity: string
  readonly kind: RecordKind
  /** What each provider's own object says. Empty for what is derived: a provisional refund, a turn of a subscription. */
  readonly sides: readonly Side[]
  /** Where it stands in the row of a subscription's snapshots; null for an object of its own. */
  readonly turn: Turn | null
  readonly provider: ProviderKind
  readonly seenThrough: readonly SeenThrough[]
  readonly subject: string
  /** Ids by which an operation may name its payment or subscription. */
  readonly objectIds: readonly string[]
  /** The refund's id, or the subscription's; null for a refund that is provisional: known from its charge's total only. */
  readonly providerRef: string | null
  readonly amount: number | null
  readonly currency: z.infer<typeof Currency> | null
  readonly state: ObjectState
  readonly providerCreatedAt: number
  /** A provisional refund was made between this and `providerCreatedAt`; null for a refund that is known. */
  readonly madeFrom?: number | null
  readonly idempotencyKeys: readonly string[]
  readonly eventIds: readonly string[]
  readonly firstSeenAt: number
  readonly look: Look | null
  readonly verdict: Verdict
  readonly reason: VerdictReason
  readonly operationId: string | null
  /** The expected change that explains it; null where none does, or something stronger. */
  readonly expectedChangeId: string | null
  readonly readBack: Why['read_back']
  /** not_alerted by their settings: the connections that were asked. One that shows it later is asked, too. */
  readonly quietFor: readonly string[]
  readonly differences: readonly Difference[]
  readonly incidents: readonly IncidentRecord[]
  readonly timeline: readonly TimelineEntry[]
  /**
   * Alerted, and an operation agrees with it by amount and time only: when that operation's own refund can no longer arrive, so
   * that it may explain this one.
   */
  readonly decideAgainAt?: number | null
  /** The version of the case in which it was last listed otherwise (projection.ts); absent in what was written before this was kept. */
  readonly changedIn?: number
}

/** One object of one provider. A refund that a biller makes through its gateway is an object of both. */
export interface Side {
  readonly identity: string
  readonly provider: ProviderKind
  readonly providerRef: string
  /** Ids that the same refund has at another provider. */
  readonly gatewayRefs: readonly string[]
  /** Credit notes that it pays out. */
  readonly creditNoteIds?: readonly string[]
  readonly subject: string
  readonly objectIds: readonly string[]
  readonly amount: number | null
  readonly currency: string | null
  readonly state: ObjectState
  readonly stateVersion: number | null
  readonly createdAt: number
  /** Absent where its money did not come back, or nothing says when. */
  readonly cameBack?: CameBack
  /** The request that made it, and its key; absent where the object's own events do not say. */
  readonly requestId?: string
  readonly idempotencyKey?: string
  /** The bank took the payment back, which the object itself says; what knows it only by name may take it for a refund. */
  readonly isDispute?: true
  /** See ObservedAction. */
  readonly isExpiredAuthorization?: true
}

export type Aspect = 'cancellation' | 'pause'

/** A stretch of a subscription's row that is one record. */
export interface Turn {
  /** Identity of the row. */
  readonly row: string
  readonly aspect: Aspect
  /** episode: set or in effect. gap: what came after one. */
  readonly part: 'episode' | 'gap'
  /** A moment within the stretch, for good: an older snapshot that comes late renames nothing. */
  readonly anchor: number
  /** Why the subscription ends; null for all but cancellations. */
  readonly cause: EndCause | null
  /** From when it may have been asked for, where the provider does not say when it was; else null. */
  readonly askedFrom: number | null
  /** The baseline showed it as set, and nothing says that it was set after the connection was made. */
  readonly wasSetBefore: boolean
}

export interface IncidentRecord {
  readonly id: string
  readonly code: Extract<IncidentCode, 'UNEXPECTED_ACTION' | 'REFUND_REJECTED'>
  readonly state: IncidentState
  readonly connectionId: string
  /** The setting that allowed it; null for an incident that no setting forbids. */
  readonly outOfBand: OutOfBand | null
  readonly openedAt: number
  readonly resolvedAt: number | null
  readonly resolvedBy: string | null
  /** How it ended, for a person; null while it is open. */
  readonly resolution: string | null
}

export interface MergedRecord {
  readonly record: ActionRecord
  /** The id of the record that it turned out to be. */
  readonly into: string
}

/** What stays of a record that was given up: should an event about it come after all, it is made anew with what it had. */
export interface EvictedRecord
  extends Pick<
    ActionRecord,
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

/** A record before it was judged for the first time. */
export const UNJUDGED = {
  look: null,
  verdict: 'pending',
  reason: 'awaiting_second_look',
  operationId: null,
  expectedChangeId: null,
  readBack: null,
  quietFor: [],
  differences: [],
  incidents: [],
  timeline: [],
  changedIn: 0,
} as const satisfies Partial<ActionRecord>

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

/** The incident that is not resolved; undefined where none is. */
export function openIncident(record: ActionRecord, code?: IncidentRecord['code']): IncidentRecord | undefined {
  return record.incidents.find(
    incident => incident.state !== 'resolved' && (code === undefined || incident.code === code),
  )
}

/** Whether a record is an action to be explained; everything else is recorded as what it is. */
export function isJudged(record: Pick<ActionRecord, 'kind'>): boolean {
  return record.kind === 'refund' || record.kind === 'cancellation'
}

/** Whether it is known from its charge's total only. */
export function isProvisional(record: Pick<ActionRecord, 'kind' | 'providerRef'>): boolean {
  return record.kind === 'refund' && record.providerRef === null
}
