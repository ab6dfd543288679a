import type { IncidentEntry, IncidentReason, OutOfBand, RefundedTwice } from '@backstop/contracts'

export type IncidentRecord = IncidentSubject & IncidentProgress

interface IncidentBase {
  readonly id: string
  readonly connectionId: string
  readonly openedAt: number
  /** The trace of the message that opened it; absent if it has none. */
  readonly traceId?: string
}

/** `outOfBand` is the setting that allowed the incident; null if no setting can prevent it. */
type IncidentSubject = IncidentBase &
  (
    | { readonly code: 'UNEXPECTED_ACTION'; readonly outOfBand: OutOfBand }
    | { readonly code: 'REFUND_REJECTED' | 'CANARY_USED'; readonly outOfBand: null }
    | { readonly code: 'REFUNDED_TWICE'; readonly outOfBand: OutOfBand; readonly refundedTwice: RefundedTwice }
  )

/** How far an incident has come. */
export type IncidentProgress = { readonly lifeCycle?: LifeCycle } & (
  | {
      readonly state: 'open' | 'acknowledged'
      readonly resolvedAt: null
      readonly resolvedBy: null
      readonly resolution: null
    }
  | {
      readonly state: 'resolved'
      readonly resolvedAt: number
      /** The operation that explained the action, or the name of who resolved the incident; null if it ended by itself. */
      readonly resolvedBy: string | null
      /** How the incident ended, as a text for people. */
      readonly resolution: string
    }
)

/** What people did about an incident. Absent until the first change. */
export interface LifeCycle {
  readonly acknowledged: { readonly at: number; readonly by: string } | null
  readonly assignee: string | null
  /** Why the incident was resolved; null if it is not resolved, or ended by itself. */
  readonly reason: IncidentReason | null
  readonly note: string | null
  /** How often it was opened again. */
  readonly reopened: number
  /** Oldest first. */
  readonly changes: readonly IncidentEntry[]
}
