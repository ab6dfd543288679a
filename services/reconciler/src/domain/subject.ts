import type {
  ActionKind,
  Currency,
  IncidentState,
  ObjectState,
  Operation,
  OutboxEntry,
  OutOfBand,
  ProviderKind,
  TimelineEntry,
  Verdict,
  VerdictReason,
} from '@backstop/contracts'
import type { z } from 'zod'

/**
 * One payment or one subscription of a project: everything that a verdict depends on, in one document, so that one
 * compare-and-set on `version` decides between any two writers. Times are milliseconds since the epoch.
 */
export interface Subject {
  readonly id: string
  readonly projectId: string
  /** 0 until it is stored; grows by one with each write. */
  readonly version: number
  /** Every reference that leads here. A reference leads to one subject only (a unique index is what makes it so). */
  readonly refs: readonly string[]
  readonly actions: readonly ActionRecord[]
  readonly refundTotals: readonly RefundTotal[]
  /** The operations that name it, as the `operations` topic or the ledger last told. */
  readonly operations: readonly Operation[]
  readonly outbox: readonly SubjectOutboxEntry[]
  readonly createdAt: number
}

export type SubjectOutboxEntry = OutboxEntry & {
  /** When it was written: the sweeper publishes what lies here too long. */
  readonly at: number
}

/** An event that was seen, and through which connection. */
export interface Sighting {
  readonly connection: SeenThrough
  readonly eventId: string
  readonly eventType: string
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
  readonly doneAt: number | null
}

/** One refund or cancellation with all that is known of it. */
export interface ActionRecord {
  readonly id: string
  /** The same for every event about it. A provisional action takes over the identity of the refund it turns out to be. */
  readonly identity: string
  readonly kind: ActionKind
  readonly provider: ProviderKind
  readonly seenThrough: readonly SeenThrough[]
  readonly subject: string
  /** Ids by which an operation may name its payment or subscription. */
  readonly objectIds: readonly string[]
  /** Null while it is provisional: known from its charge's total only. */
  readonly providerRef: string | null
  readonly amount: number | null
  readonly currency: z.infer<typeof Currency> | null
  readonly state: ObjectState
  readonly providerCreatedAt: number
  readonly idempotencyKeys: readonly string[]
  readonly eventIds: readonly string[]
  readonly firstSeenAt: number
  readonly look: Look | null
  readonly verdict: Verdict
  readonly reason: VerdictReason
  readonly operationId: string | null
  readonly incident: IncidentRecord | null
  readonly timeline: readonly TimelineEntry[]
}

export interface IncidentRecord {
  readonly id: string
  readonly state: IncidentState
  readonly connectionId: string
  readonly outOfBand: OutOfBand
  readonly openedAt: number
  readonly resolvedAt: number | null
  readonly resolvedBy: string | null
}

/** How much of a charge was refunded when one event was made (see ObservedRefundTotal, and refund-steps.ts). */
export interface RefundTotal {
  /** Names the step that this total is, its look and its provisional action. */
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
  readonly currency: string
  readonly observedAt: number
  readonly idempotencyKey: string | null
  readonly eventIds: readonly string[]
  /** Null until it is found open. */
  readonly look: Look | null
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
