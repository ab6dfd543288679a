/** Documents of the reconciler, their only writer. */
import type { Burst } from '../actions/burst.ts'
import type { Actor, IncidentSelection, LifeCycleChange } from '../actions/life-cycle.ts'
import type { Operation } from '../actions/operation.ts'
import type { Action, Incident, ObjectState, TimelineEntry, VerdictReason } from '../actions/verdict.ts'
import type { InboxEntry } from '../http/inbox.ts'
import type { Stats } from '../http/stats.ts'
import type { InboxOutcome } from '../inbox-outcome.ts'
import type { TimedOutboxEntry } from '../kafka/outbox-entry.ts'
import type { OutOfBand } from '../providers.ts'
import type { TimeBucket } from '../values/time-buckets.ts'

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
  /** When the last complete sweep ended; null before the first one. Absent in documents of earlier versions. */
  completed_at?: Date | null
  /** Every change up to this time was read. Absent before the first complete sweep of this version. */
  read_until?: Date
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

/** The sweeps of one connection that ended on one day (docs/adr/0020-sweep-days-and-uptimes.md). */
export interface SweepDayDocument {
  /** `<connection_id>/<YYYY-MM-DD>` */
  _id: string
  project_id: string
  connection_id: string
  day: Date
  /** Nothing is recorded about sweeps before this time. */
  recorded_from: Date
  /** Every change up to this time was read. Absent before the first complete sweep. */
  read_until?: Date
  /** Number of sweeps that reached the present. */
  completed: number
  /** Number of objects in the provider's lists. A sweep lists those of the last 15 minutes again. */
  objects: number
  /** Times without a complete sweep that ended on this day. */
  interruptions: SweepInterruption[]
}

/** A time of at least 15 minutes without a complete sweep. What was changed in it was read when it ended. */
export interface SweepInterruption {
  from: Date
  to: Date
  /** Why the last sweep before its end failed, for people to read; null if none failed, because Backstop was down or the first one took long. */
  cause: string | null
}

/** The progress of the search for operations that no case knows. The only document of its collection. */
export interface OperationSearchDocument {
  _id: 'changed'
  /** Every operation up to this position was compared. */
  position: Pick<Operation, 'updated_at' | 'operation_id'>
  /** The end of the lease; null if no search is running. If it has passed, the search was interrupted. */
  leased_until: Date | null
}

/** What the ids of a project's actors are derived from, under the id of the project. Whoever has it can test guesses of e-mail addresses. */
export interface ActorSecretDocument {
  _id: string
  secret: string
}

/** An erasure of personal data, under the id of the deleted connection or of the request to erase a person. */
export interface ErasureDocument {
  _id: string
  project_id: string
  /** The last case that was checked. */
  cursor: string
  /** Set if a case failed: the last case that was checked before its page. The next pass begins there. */
  retry_from?: string | null
  /** Numbers of erased cases and bodies. */
  cases: number
  bodies: number
  /** Only of a person: the number of actions of these cases. */
  actions?: number
  /** Only of a person: the last body that was checked. */
  body_cursor?: string
  /** Only of a person: when the second walk may begin; null during the first one. */
  second_walk_at?: Date | null
  /** Null until everything is erased. */
  finished_at: Date | null
}

/** A connection that showed an action, with the facts that decided at the action's second look whether it may alert. */
export interface LookedConnection {
  readonly connection_id: string
  readonly out_of_band: OutOfBand
  /** The connected account whose own setting `out_of_band` was. Absent if it was that of the connection. */
  readonly account?: string
  readonly deleted: boolean
  /** True if an operation of this connection ever reached `executing`. */
  readonly has_executed: boolean
}

/** The uses of one expected change, or of one period of it (expected-change-uses-id.ts). Created by the first use. */
export interface ExpectedChangeUsesDocument {
  _id: string
  project_id: string
  version: number
  /**
   * An entry for each covered action: its amount in minor units (0 if no money moved), and the case that last claimed the use with its version
   * (absent means 0).
   */
  uses: { action_id: string; amount: number; subject_id?: string; subject_version?: number }[]
  /** The same time as in the expected change. The document is removed much later (TTL). */
  expires_at: Date
}

/** An action, for lists and searches. It is a projection of its case. */
export type ActionDocument = Omit<Action, 'action_id'> & {
  _id: string
  first_seen: Date
  /** When its last second look found no explanation. Absent if there was none. */
  look_done?: Date
  /** The facts by which that look decided whether to alert. */
  look_connections?: readonly LookedConnection[]
  /**
   * The bucket (time-buckets.ts) of the time from its first record to its first verdict, so that counting a day does not read timelines.
   * Absent without a verdict, and in documents of earlier versions.
   */
  verdict_bucket?: number
  /** The keys under which searches find it (search-keys.ts). They contain personal data as long as the action does. */
  search?: string[]
  /** The action that this action was merged into. Lists omit merged actions. They can still be read, because an alert may link to one. */
  merged_into?: string
}

/** An incident for lists and searches. */
export type IncidentDocument = Omit<Incident, 'incident_id'> & {
  _id: string
  opened: Date
  /** The connected account of its action. Absent for the connection's own account, and in older documents. */
  account?: string
  /** Unpublished messages of this incident. Messages of an incident about an action are in the case of the action. */
  outbox?: TimedOutboxEntry[]
  changes?: readonly IncidentEntry[]
  trace_id?: string
}

/** An incident with what people did about it, the trace of the message that opened it, and its connected account. */
export type StoredIncident = Incident & {
  readonly changes?: readonly IncidentEntry[]
  readonly trace_id?: string
  readonly account?: string
}

/** One change of an incident's life cycle. */
export interface IncidentEntry extends TimelineEntry {
  /** The command that made the change. */
  command_id: string
  /** The version of the incident with this change. */
  version: number
}

/** A change of many incidents, and its progress. */
export interface IncidentBulkDocument {
  _id: string
  project_id: string
  selection: IncidentSelection
  change: LifeCycleChange
  actor: Actor
  state: 'running' | 'done'
  changed: number
  /** Incidents whose state did not allow the change any more. */
  refused: number
  /** The last incident that was checked; null before the first. */
  cursor: { opened: Date; incident_id: string } | null
  /** Grows with each write, so that of two processes one continues. */
  version: number
  /** When a process may take the next page. */
  next_page_at: Date
  requested_at: Date
  finished_at: Date | null
}

/** The outcome of a command that changes an incident, under the id of the command. */
export interface IncidentOutcomeDocument {
  _id: string
  project_id: string
  incident_id: string
  outcome: 'changed' | 'refused'
  /** Why it was refused; null if it was not. */
  reason: 'state' | 'version' | 'full' | 'unknown' | null
  /** The reason for people to read. */
  detail: string | null
  at: Date
}

/**
 * What is usual for one connection, under its id, and its burst of unexplained actions. A process that reports a burst, or its end, changes the
 * version that it read.
 */
export interface BurstDocument {
  _id: string
  project_id: string
  version: number
  /** By days since the epoch. The fields are those of BurstHistory in packages/verdict. */
  days: Record<string, Partial<Record<'late' | 'busiest' | 'waits', Record<string, number>>>>
  /** The burst with an open incident. Null if there is none. */
  open: { at: Date; burst: Burst } | null
  /** When a process looks again at the open burst; absent if there is none. */
  check_at?: Date
  /** After a confirmed burst: until then its actions continue as a storm, and no other burst is reported. */
  quiet_until: Date
}

/** The actions of one connection that the provider made on one day (UTC), counted. */
export interface DailyTotalsDocument {
  /** `<connection_id>/<YYYY-MM-DD>` */
  _id: string
  project_id: string
  connection_id: string
  day: Date
  /** Grows with each claim for a count, and with each batch that changed an action or incident of the day while it was not due. */
  marks: number
  /** The value of `marks` before the last count. */
  counted: number
  /** When to count again; absent if nothing changed since the last count and the totals of the project contain the count. */
  count_at?: Date
  totals: DailyTotal[]
  times: DailyTimes
  /** The actors of the day, and their number. Absent in documents of earlier versions. */
  actors?: DailyActor[]
  actor_count?: number
  /** The number of actions of which no notification arrived: they were found by reading the provider. Absent in documents of earlier versions. */
  without_notification?: number
}

/** The actions of one kind, currency and mode that an actor made on a day. */
export interface DailyActor extends Pick<DailyTotal, 'kind' | 'currency' | 'mode' | 'count' | 'amount'> {
  actor_id: string
  /** The provider's times of the first and the last of them. */
  first: string
  last: string
}

/** The sum of the daily totals of all connections of a project. */
export interface ProjectTotalsDocument {
  /** `<project_id>/<YYYY-MM-DD>` */
  _id: string
  project_id: string
  day: Date
  /** Grows with each stored sum, so that a sum of older counts never replaces a newer one. */
  version: number
  totals: DailyTotal[]
  times: DailyTimes
}

/** The actions of a day that have these fields in common. */
export interface DailyTotal
  extends Pick<Stats['totals'][number], 'verdict' | 'kind' | 'currency' | 'mode' | 'count' | 'amount'> {
  reason: VerdictReason
  state: ObjectState
}

/** How long verdicts of a day took, and people with its incidents. An incident counts on the day on which it was opened. */
export interface DailyTimes {
  /** From the first record of an action to its first verdict. */
  verdict: TimeBucket[]
  /** From the opening of an incident about an action to its acknowledgement. */
  acknowledgement: TimeBucket[]
  /** From the opening of an incident about an action to its end. */
  resolution: TimeBucket[]
}

/** The record that an event was processed. Its body is in `inbox_bodies`, which is retained for less time. */
export interface InboxDocument extends Omit<InboxEntry, 'inbox_id' | 'received_at' | 'processed_at' | 'replay_id'> {
  /** `<connection_id>/<event_id>` */
  _id: string
  received_at: Date
  processed_at: Date
  /** The last replay that decided the event again. Absent if there was none. */
  replay_id?: string
}

/** The notifications that a replay selects: events by id, or a window over received_at whose `to` is exclusive. */
export interface InboxSelection {
  connection_id: string
  event_ids: string[] | null
  from: Date | null
  to: Date | null
  /** Null selects events with any outcome. */
  outcome: InboxOutcome | null
}

/** A replay of notifications and its progress. */
export interface InboxReplayDocument extends InboxSelection {
  /** The replay_id of the replay's command. */
  _id: string
  project_id: string
  state: 'running' | 'done'
  /** Selected entries of the inbox when the replay started. */
  total: number
  /** Events sent again. */
  replayed: number
  /** Entries without a body, because its retention is over or its connection was deleted. */
  skipped_erased: number
  /** Entries that are objects of a provider's answer and no notifications. */
  skipped_objects: number
  requested_at: Date
  /** The last entry that was sent again or skipped. The replay continues after it when the process restarts. */
  cursor: { received_at: Date; inbox_id: string } | null
  /** When the next page is due. A sender moves this time forward before it sends, so that no two senders send the same page. */
  next_page_at: Date
  finished_at: Date | null
}

/** The raw body of an inbox entry, under its id. Bodies hold personal data and are retained for 14 days. */
export interface InboxBodyDocument {
  _id: string
  received_at: Date
  /** The body as JSON text, because MongoDB cannot store every body as a document (nesting depth, field names). */
  body: string
}
