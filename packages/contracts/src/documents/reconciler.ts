/** Documents of the reconciler: nobody else writes them. */
import type { InboxOutcome } from '../inbox-outcome.ts'
import type { TimedOutboxEntry } from '../outbox-entry.ts'
import type { ProviderKind } from '../providers.ts'
import type { Action, Incident } from '../verdict.ts'

/** How far the sweep of one connection has come; its id is the connection's. */
export interface SweepDocument {
  _id: string
  project_id: string
  /** Where to go on, in the provider's own terms; null before the baseline was read. */
  cursor: Record<string, string> | null
  /** When the baseline (schedules that were set before the connection) was complete. */
  baseline_at: Date | null
  /** Set while one process sweeps; another may take over once it has passed. */
  leased_until: Date | null
  lease_holder: string | null
  /** Whether somebody asked for a run since this was claimed last: the end of that run then puts the next one off no more. */
  woken: boolean
  next_run_at: Date
  last_run_at: Date | null
  /** In words a person can act on; null after a run that worked. */
  last_error: string | null
  /** Since when no run has worked; null after one that did. */
  failing_since: Date | null
  /** Runs in a row that failed; absent before this was kept. */
  failures?: number
  /** Events that the provider lists and that had not come yet, with the provider's time: are they late, or lost? */
  unseen: { event_id: string; event_type: string; created_at: Date }[]
  /** Since when hints of this connection wait for a re-read that cannot be had; null while all is well. */
  unverified_since: Date | null
  /** The open incident of this connection by its code. */
  open_incidents: Partial<Record<'FEED_SILENT' | 'VERIFICATION_UNAVAILABLE', string>>
}

/** What is taken of one expected change; its id is that of the expected change. Absent while nothing is. */
export interface ExpectedChangeUsesDocument {
  _id: string
  project_id: string
  version: number
  /**
   * One for each action that it covers, with its amount in minor units (0 where no money moved), and the version of the case
   * that claimed it last (0 where absent).
   */
  uses: { action_id: string; amount: number; subject_version?: number }[]
  /** That of the expected change: the document is removed long after (TTL). */
  expires_at: Date
}

/** An action as lists and searches read it: a projection of its subject. */
export type ActionDocument = Omit<Action, 'action_id'> & {
  _id: string
  first_seen: Date
  /** The action that it turned out to be. Lists leave it out; an alert may have led here, so it leads on. */
  merged_into?: string
}

/** An incident as lists and searches read it. */
export type IncidentDocument = Omit<Incident, 'incident_id'> & {
  _id: string
  opened: Date
  /** Messages that this document caused and that are not yet published; those of an action's incident lie in its subject. */
  outbox?: TimedOutboxEntry[]
}

/** The mark that an event is done. Its body lies beside it in `inbox_bodies` and goes much sooner. */
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

/** Raw bodies hold personal data: kept for 14 days, under the id of their inbox entry. */
export interface InboxBodyDocument {
  _id: string
  received_at: Date
  /** JSON text: as a document, a body of many levels or with odd keys could not be stored. */
  body: string
}
