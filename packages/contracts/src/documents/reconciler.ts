/** Documents of the reconciler, their only writer. */
import type { InboxOutcome } from '../inbox-outcome.ts'
import type { TimedOutboxEntry } from '../outbox-entry.ts'
import type { ProviderKind } from '../providers.ts'
import type { Action, Incident } from '../verdict.ts'

/** The progress of one connection's sweep, under the id of the connection. */
export interface SweepDocument {
  _id: string
  project_id: string
  /** Where the next run continues, in the provider's terms; null before the baseline was read. */
  cursor: Record<string, string> | null
  /** When the baseline was complete: the schedules that existed before the connection was created. */
  baseline_at: Date | null
  /** A process holds the lease and sweeps until this time. After it, another process may sweep. */
  leased_until: Date | null
  lease_holder: string | null
  /** True if a run was requested during the present run. The next run then starts without a pause. */
  woken: boolean
  next_run_at: Date
  last_run_at: Date | null
  /** The cause and the remedy, for people to read; null after a successful run. */
  last_error: string | null
  /** The first failure since the last successful run; null after a successful run. */
  failing_since: Date | null
  /** Number of failed runs in a row; absent in older documents. */
  failures?: number
  /** Events that the provider lists and that have not arrived, with the provider's time. They are late or lost. */
  unseen: { event_id: string; event_type: string; created_at: Date }[]
  /** Since when notifications of this connection wait because the provider cannot be read; null if none waits. */
  unverified_since: Date | null
  /** The ids of the connection's open incidents, by incident code. */
  open_incidents: Partial<Record<'FEED_SILENT' | 'VERIFICATION_UNAVAILABLE', string>>
}

/** The erasure of the personal data of a deleted connection, under the id of the connection. */
export interface ErasureDocument {
  _id: string
  project_id: string
  /** The last case that was checked. */
  cursor: string
  /** Numbers of erased cases and bodies. */
  cases: number
  bodies: number
  /** Null until everything is erased. */
  finished_at: Date | null
}

/** The uses of one expected change, under its id. Created by the first use. */
export interface ExpectedChangeUsesDocument {
  _id: string
  project_id: string
  version: number
  /**
   * An entry for each covered action: its amount in minor units (0 if no money moved) and the version of the case that last claimed the
   * use (absent means 0).
   */
  uses: { action_id: string; amount: number; subject_version?: number }[]
  /** The same time as in the expected change. The document is removed much later (TTL). */
  expires_at: Date
}

/** An action, for lists and searches. It is a projection of its case. */
export type ActionDocument = Omit<Action, 'action_id'> & {
  _id: string
  first_seen: Date
  /** The action that this action was merged into. Lists omit merged actions. They can still be read, because an alert may link to one. */
  merged_into?: string
}

/** An incident for lists and searches. */
export type IncidentDocument = Omit<Incident, 'incident_id'> & {
  _id: string
  opened: Date
  /** Unpublished messages of this incident. Messages of an incident about an action are in the case of the action. */
  outbox?: TimedOutboxEntry[]
}

/** The record that an event was processed. Its body is in `inbox_bodies`, which is retained for less time. */
export interface InboxDocument {
  /** `<connection_id>/<event_id>` */
  _id: string
  project_id: string
  connection_id: string
  provider: ProviderKind
  event_id: string
  event_type: string
  outcome: InboxOutcome
  reason: string
  action_ids: string[]
  received_at: Date
  processed_at: Date
}

/** The raw body of an inbox entry, under its id. Bodies hold personal data and are retained for 14 days. */
export interface InboxBodyDocument {
  _id: string
  received_at: Date
  /** The body as JSON text, because MongoDB cannot store every body as a document (nesting depth, field names). */
  body: string
}
