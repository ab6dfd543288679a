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
  /** When the baseline (schedules set before the connection was created) was complete. */
  baseline_at: Date | null
  /** Set while a process sweeps; after this time another process may take over. */
  leased_until: Date | null
  lease_holder: string | null
  /** Whether a run was requested since the last claim: the end of the present run then does not postpone the next one. */
  woken: boolean
  next_run_at: Date
  last_run_at: Date | null
  /** For people: the cause and the remedy; null after a run that succeeded. */
  last_error: string | null
  /** The first failure since the last run that succeeded; null after one that did. */
  failing_since: Date | null
  /** Failed runs in a row; absent in older documents. */
  failures?: number
  /** Events that the provider lists and that have not arrived, with the provider's time: they are late or lost. */
  unseen: { event_id: string; event_type: string; created_at: Date }[]
  /** Since when hints of this connection wait because it cannot be read; null: none waits. */
  unverified_since: Date | null
  /** The open incident of this connection by its code. */
  open_incidents: Partial<Record<'FEED_SILENT' | 'VERIFICATION_UNAVAILABLE', string>>
}

/** The uses of one expected change, under its id. Created by the first use. */
export interface ExpectedChangeUsesDocument {
  _id: string
  project_id: string
  version: number
  /**
   * One for each covered action, with its amount in minor units (0: no money moved) and the version of the case that claimed
   * it last (absent: 0).
   */
  uses: { action_id: string; amount: number; subject_version?: number }[]
  /** As in the expected change. The document is removed much later (TTL). */
  expires_at: Date
}

/** An action for lists and searches: a projection of its case. */
export type ActionDocument = Omit<Action, 'action_id'> & {
  _id: string
  first_seen: Date
  /** The action that it was merged into. Lists omit it; it can still be read, because an alert may link to it. */
  merged_into?: string
}

/** An incident for lists and searches. */
export type IncidentDocument = Omit<Incident, 'incident_id'> & {
  _id: string
  opened: Date
  /** Unpublished messages of this document. Those of an action's incident are in its case. */
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
  /** JSON text, because MongoDB cannot store every body as a document (nesting depth, names of fields). */
  body: string
}
