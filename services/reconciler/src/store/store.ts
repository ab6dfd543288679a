import type {
  ActionDocument,
  ConnectionDocument,
  ExpectedChangeDocument,
  InboxBodyDocument,
  InboxDocument,
  IncidentBulkDocument,
  IncidentOutcomeDocument,
  Names,
  StoredIncident,
} from '@backstop/contracts'
import type { OutboxSource, PendingOutbox } from '@backstop/kit/outbox'
import type { ChangePosition } from '@backstop/ledger'
import type {
  Case,
  CaseOutboxEntry,
  ExpectedChangeUses,
  IncidentChange,
  ProjectedAction,
  ProjectedIncident,
} from '@backstop/verdict'
import type { ErasureStore } from '../erasure/erasure-store.ts'
import type { TotalsStore } from '../totals/totals-store.ts'
import type { InboxReplayStore } from './inbox-replays.ts'
import type { SweepStore } from './sweeps.ts'

/**
 * The reconciler's stores, as narrow ports. `mongo-*.ts` implement them in MongoDB, and `memory-*.ts` in memory for
 * simulations. Both pass the contract of each store, `test/<store>.contract.ts`. Every call takes a whole batch, so that
 * the number of commands does not grow with the number of events. All methods throw AppError `unavailable` if the
 * database is unavailable.
 */
export interface CaseStore {
  load(refs: readonly string[]): Promise<Case[]>
  /** The operations that the cases with any of these references know. */
  knownOperations(refs: readonly string[]): Promise<readonly KnownOperations[]>
  /**
   * Writes each change unless another writer has changed the case since it was loaded.
   * @returns ids of the cases that were not written; load and decide them again
   */
  save(changes: readonly CaseChange[]): Promise<ReadonlySet<string>>
  /** The outboxes of the cases, for the publisher and the outbox sweeper. */
  readonly outbox: OutboxSource
  /** Cases with personal data that must be erased at this time or earlier. */
  withExpiredPersonalData(at: number, limit: number): Promise<Case[]>
  /** Records that the personal data of these cases was erased and their actions listed, unless a case has changed since. */
  confirmErasure(cases: readonly Case[]): Promise<void>
  /** The next cases of a project in the order of their ids. @param after the last case before; '' for the first page */
  page(projectId: string, after: string, limit: number): Promise<Case[]>
  /** Cases with a look whose `wakeAt` is earlier than `before`. */
  withOverdueLook(before: number, limit: number): Promise<Case[]>
}

/** The operations that one case knows. */
export interface KnownOperations {
  readonly refs: readonly string[]
  /** The names of their versions (`versionName`). Missing or outdated ones are possible if a version of Backstop without this list wrote the case. */
  readonly operations: readonly string[]
}

export interface CaseChange {
  /** The next state. Its version is one higher. */
  readonly next: Case
  /** The case as it was loaded; undefined for a new case. */
  readonly before: Case | undefined
  /** Outbox entries that this change adds. Existing entries are kept unless they are published. */
  readonly added: readonly CaseOutboxEntry[]
  /** Stored cases that were merged into this one, with their loaded versions. They are deleted in the same write. */
  readonly replacedCases: readonly { id: string; version: number }[]
}

export interface ProjectionStore {
  /** Writes each action unless a newer version of it is stored. */
  saveActions(actions: readonly ProjectedAction[]): Promise<void>
  saveIncidents(incidents: readonly ProjectedIncident[]): Promise<void>
}

/** Incidents that are about no action, and so belong to no case. Their document is the only source. */
export interface StandaloneIncidentStore {
  /**
   * Inserts the incident with its messages. An existing incident is kept.
   * @returns the messages to publish
   */
  open(told: IncidentChange): Promise<PendingOutbox>
  find(incidentId: string): Promise<StoredIncident | undefined>
  /** The incidents with these ids, those of actions included. */
  findAll(incidentIds: readonly string[]): Promise<StoredIncident[]>
  /**
   * Writes the next version and adds its messages, unless another writer has changed the incident.
   * @returns the messages to publish; undefined if another writer has changed it
   */
  replace(told: IncidentChange): Promise<PendingOutbox | undefined>
  /** The messages to publish; empty for an unknown incident. */
  pendingOf(incidentId: string): Promise<PendingOutbox>
  readonly outbox: OutboxSource
}

/** The outcomes of commands that change incidents. */
export interface IncidentOutcomeStore {
  /** The stored outcomes of these commands, in no order. */
  byCommands(commandIds: readonly string[]): Promise<readonly IncidentOutcomeDocument[]>
  /** Stores the outcomes; existing ones are kept. */
  insert(outcomes: readonly IncidentOutcomeDocument[]): Promise<void>
}

/** Changes of many incidents, and the incidents that they select. */
export interface IncidentBulkStore {
  /** Stores a new bulk change. An existing one is kept. */
  begin(bulk: IncidentBulkDocument): Promise<void>
  /** A running bulk change whose next page may be taken. */
  due(now: Date): Promise<IncidentBulkDocument | undefined>
  /** Changes fields, unless another process has changed the document. @returns the changed document */
  advance(bulk: IncidentBulkDocument, fields: Partial<IncidentBulkDocument>): Promise<IncidentBulkDocument | undefined>
  /** The next incidents of the selection after the cursor, oldest first, in any state. */
  page(bulk: IncidentBulkDocument, limit: number): Promise<StoredIncident[]>
  /** Deleted connections without a bulk change of this id. */
  deletedConnections(bulkIdOf: (connectionId: string) => string): Promise<{ id: string; projectId: string }[]>
}

export interface InboxEntry {
  readonly document: InboxDocument
  /** JSON text; null if it is not kept. */
  readonly body: string | null
  /** True if `keepBodies` has stored the body. */
  readonly isBodyKept?: true
}

export interface Inbox {
  /** The ids that have an entry, with any outcome. */
  known(ids: readonly string[]): Promise<ReadonlySet<string>>
  /** The ids that are done. A dead-lettered event is not done, because it may be usable when it is sent again. */
  done(ids: readonly string[]): Promise<ReadonlySet<string>>
  /** Stores bodies of events that are not decided yet. An event is done when its entry is inserted. */
  keepBodies(documents: readonly InboxBodyDocument[]): Promise<void>
  /** Marks events as done. An existing entry is kept, unless its event was dead-lettered. */
  insert(entries: readonly InboxEntry[]): Promise<void>
  /**
   * Records the outcomes of replayed events. Their actions are added to those of the entry. A replayed event that cannot
   * be used changes only an entry that is dead-lettered.
   */
  decideAgain(documents: readonly InboxDocument[]): Promise<void>
  /**
   * Hints that wait until the connection is readable, oldest first. Hints whose body is no longer kept are left out.
   */
  held(connectionId: string, limit: number): Promise<InboxEntry[]>
  /** Marks held hints as requested. */
  release(ids: readonly string[]): Promise<void>
  /** Marks hints that could not be verified as held, with the reason. */
  hold(ids: readonly string[], reason: string): Promise<void>
  /** Erases up to `limit` bodies of a connection. @returns their number */
  eraseBodies(connectionId: string, limit: number): Promise<number>
}

/** A connection with the name of its project; null if the project is not stored. */
export interface NamedConnection extends ConnectionDocument {
  readonly project_name?: string | null
}

/** The names that alerts about a connection show. */
export function namesOf({ name, project_name = null }: NamedConnection): Names {
  return { project: project_name, connection: name }
}

export interface ConnectionReader {
  /** Includes deleted connections. */
  byIds(ids: readonly string[]): Promise<ReadonlyMap<string, NamedConnection>>
  /** All active connections whose provider can be read. */
  readable(): Promise<NamedConnection[]>
  /** @returns null if the project is not stored */
  projectName(projectId: string): Promise<string | null>
}

/** The expected changes to look up. */
export interface ExpectedChangesQuery {
  readonly projectIds: readonly string[]
  /** Subjects to look up. Expected changes without a subject are always found. */
  readonly names: readonly string[]
  /** Only expected changes that expire at this time or later, in milliseconds since the epoch. */
  readonly expiringAfter: number
}

/**
 * The limit of expected changes for one subject, or without a subject, in one project; those that expire last are
 * found. People create one for a refund, or one for a day of refunds, so more than a thousand valid ones come from
 * faulty software.
 */
export const MAX_FOUND_PER_SUBJECT = 1_000

/** Reads expected changes. */
export interface ExpectedChangeReader {
  find(query: ExpectedChangesQuery): Promise<ExpectedChangeDocument[]>
  /** The expected changes with these ids. Deleted ones are left out. */
  byIds(ids: readonly string[]): Promise<ExpectedChangeDocument[]>
  /**
   * The latest expected changes of each project that were created since a time.
   * @param since milliseconds since the epoch
   * @param limit for each project
   */
  madeSince(since: number, limit: number): Promise<ExpectedChangeDocument[]>
}

/** Expected changes. admin-api stores those that people create, the reconciler those of incidents that were resolved as their own change. */
export interface ExpectedChangeStore extends ExpectedChangeReader {
  /** Stores new expected changes. One with a known id stays as it is, so that a repeated command does not restore what a person deleted. */
  addAll(documents: readonly ExpectedChangeDocument[]): Promise<void>
}

/** Reads the actions that have an open incident. */
export interface OpenActionReader {
  /**
   * Actions of a project with an open incident, oldest incident first.
   * @param after the last action of the page before; undefined for the first page
   */
  page(projectId: string, after: OpenActionPosition | undefined, limit: number): Promise<OpenAction[]>
  /** The actions with these ids, whether or not they have an open incident. */
  byIds(ids: readonly string[]): Promise<ActionDocument[]>
}

export interface OpenActionPosition {
  readonly openedAt: number
  readonly incidentId: string
}

/** An action with an open incident, as lists show it. */
export interface OpenAction extends OpenActionPosition {
  readonly action: ActionDocument
}

/** How much of each expected change is used, by the expected change's id. */
export interface ExpectedChangeUsesStore {
  load(ids: readonly string[]): Promise<ReadonlyMap<string, ExpectedChangeUses>>
  /**
   * @param next its version must be one higher than the loaded version
   * @returns false if another writer has changed the document
   */
  save(next: ExpectedChangeUses): Promise<boolean>
}

/** How far the operations that were sent to the provider were compared with the cases. One process at a time compares. */
export interface OperationSearchStore {
  /**
   * Leases the search.
   * @param first the position of the first search of an installation
   * @returns undefined if another process has the lease
   */
  claim(first: ChangePosition, now: number, leasedUntil: number): Promise<ClaimedSearch | undefined>
  /** Stores that every operation up to this position was compared. @param leasedUntil null ends the lease */
  advance(position: ChangePosition, leasedUntil: number | null): Promise<void>
}

export interface ClaimedSearch {
  /** The position after which to continue. */
  readonly position: ChangePosition
  /** True if the search before did not end its lease: operations behind the position may be applied in part. */
  readonly wasInterrupted: boolean
}

/** What is stored of heartbeats. Nobody reads it later. */
export interface HeartbeatStore {
  /** Removes the cases that are finished, and the inbox entries received before this time. @returns the number of removed cases */
  removeFinished(receivedBefore: Date): Promise<number>
}

export interface ReconcilerStores {
  readonly cases: CaseStore
  readonly projections: ProjectionStore
  readonly standaloneIncidents: StandaloneIncidentStore
  readonly incidentOutcomes: IncidentOutcomeStore
  readonly incidentBulks: IncidentBulkStore
  readonly inbox: Inbox
  readonly inboxReplays: InboxReplayStore
  readonly connections: ConnectionReader
  readonly expectedChanges: ExpectedChangeStore
  readonly expectedChangeUses: ExpectedChangeUsesStore
  readonly openActions: OpenActionReader
  readonly sweeps: SweepStore
  readonly erasures: ErasureStore
  readonly totals: TotalsStore
  readonly heartbeats: HeartbeatStore
  readonly operationSearch: OperationSearchStore
}
