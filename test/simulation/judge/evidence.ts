import type {
  Completeness,
  Delivery,
  InboxEntry,
  ListedIncident,
  ShownAction,
  ShownBudget,
  ShownOperation,
} from '@backstop/contracts'
import type { Deed, Truth } from '../actors/truth.ts'

/** What the management API shows of one project when the run is at rest. */
export interface ProjectLists {
  readonly projectId: string
  readonly actions: readonly ShownAction[]
  readonly incidents: readonly ListedIncident[]
  readonly operations: readonly ShownOperation[]
  readonly inbox: readonly InboxEntry[]
  readonly deliveries: readonly Delivery[]
  readonly budgets: readonly ShownBudget[]
  readonly completeness: Pick<Completeness, 'connections'>
}

/** The export of the audit and the keys that verify it. */
export interface AuditExport {
  readonly ndjson: string
  readonly publicKeys: readonly string[]
}

/** Everything that can be seen of the product from outside when a run is at rest. */
export interface Evidence {
  readonly projects: readonly ProjectLists[]
  readonly audit: AuditExport
  /** Everything that MongoDB and Kafka hold, with the name of its collection or topic. */
  readonly stored: readonly Stored[]
}

/** A document or a message as text. */
export interface Stored {
  readonly place: string
  readonly text: string
}

/** What the judge must know of a run beside its truth. */
export interface Terms {
  /** Time between the first record of an action and its second look, in milliseconds. */
  readonly secondLookMs: number
  /** How far two clocks may differ, in milliseconds. */
  readonly clockMs: number
  /** Longest delay of a notification, in milliseconds. */
  readonly delayMs: number
  /** Whether something may have broken between a receiver's answer and its record, so that a delivery may be repeated. */
  readonly mayRepeat: boolean
  /** Time of the last fault, and when everything was at rest, in milliseconds since the epoch. */
  readonly faultsEndedMs: number
  readonly endMs: number
}

/** The body of an alert for a program, as docs/webhooks.md describes it. */
export interface AlertBody {
  readonly id: string
  readonly event: string
  readonly project_id: string
  readonly data: {
    readonly incident?: {
      readonly incident_id: string
      readonly code: string
      readonly connection_id?: string | null
      readonly opened_at?: string
      readonly reopened?: number
    }
    readonly action?: {
      readonly provider: string
      readonly connection_ids: readonly string[]
      readonly provider_ref: string | null
      readonly subject: string
      readonly amount: number | null
      readonly first_seen_at: string
    }
    /** The alert about the opening that this alert replaces. */
    readonly supersedes?: string
  }
}

/** An alert that a receiver got. */
export interface ReceivedAlert {
  readonly atMs: number
  /** The name of the receiver's host. */
  readonly channel: string
  readonly webhookId: string
  readonly text: string
  readonly isAnswered: boolean
  readonly body: AlertBody
}

/** A run that has come to rest: what was done, what can be seen, and by which terms it is judged. */
export interface Case {
  readonly truth: Truth
  readonly evidence: Evidence
  readonly terms: Terms
  readonly alerts: readonly ReceivedAlert[]
}

/** A consumer group notices that a process ended after its session time-out, and a restart takes seconds, in milliseconds. */
const RECOVERED_AFTER_MS = 60_000

/** Whether something happened after the last fault and the recovery from it. */
export function isMadeAfterRecovery({ faultsEndedMs }: Terms, { atMs }: Pick<Deed, 'atMs'>): boolean {
  return atMs > faultsEndedMs + RECOVERED_AFTER_MS
}

/** The name of the change that an alert or a record is about: its id, or the amount of its payment if the provider gave no id. */
export function nameOf(action: Pick<ShownAction, 'provider_ref' | 'subject' | 'amount'>): string {
  return action.provider_ref ?? `${action.amount} of ${action.subject}`
}
