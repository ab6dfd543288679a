import type {
  ActionDocument,
  ConnectionDocument,
  ExpectedChangeDocument,
  InboxDocument,
  Incident,
} from '@backstop/contracts'
import type { OutboxSource, PendingOutbox } from '@backstop/kit'
import type { Case, CaseOutboxEntry } from '../case/case.ts'
import type { ExpectedChangeUses } from '../expected-change/expected-change-uses.ts'
import type { IncidentChange } from '../incidents/rules/failing-channel.ts'
import type { ProjectedAction, ProjectedIncident } from '../verdict/projection.ts'
import type { SweepStore } from './sweeps.ts'

/**
 * What the reconciler keeps, as narrow ports. `mongo-*.ts` are the real ones, `memory-store.ts` their twin for
 * simulation; both pass `test/store.contract.ts`. Every call takes a whole batch, so that the number of commands does
 * not grow with the number of events. All throw AppError `unavailable` when the database is away.
 */
export interface CaseStore {
  /** Every case that holds any of the references. */
  load(refs: readonly string[]): Promise<Case[]>
  /**
   * Writes each change if nobody else wrote in between.
   * @returns ids of the cases that lost: they are to be loaded and decided again
   */
  save(changes: readonly CaseChange[]): Promise<ReadonlySet<string>>
  /** The outboxes of the cases, as the publisher and its sweeper use them. */
  readonly outbox: OutboxSource
  /** Cases with a look that was to be asked for (again) before `before`. */
  withOverdueLook(before: number, limit: number): Promise<Case[]>
}

export interface CaseChange {
  /** The next state, of a greater version. */
  readonly next: Case
  /** As it was read, and must still be stored; undefined for a new case. */
  readonly before: Case | undefined
  /** Outbox entries that this change adds; those that were there stay, or are gone if they were published meanwhile. */
  readonly added: readonly CaseOutboxEntry[]
  /** Stored cases that this one takes up, with the versions that were read. They vanish in the same write. */
  readonly replacedCases: readonly { id: string; version: number }[]
}

export interface ProjectionStore {
  /** Writes each unless a newer version of it is there. */
  saveActions(actions: readonly ProjectedAction[]): Promise<void>
  saveIncidents(incidents: readonly ProjectedIncident[]): Promise<void>
}

/** Incidents that are about no action, and so belong to no case: the document itself is the truth of them. */
export interface StandaloneIncidentStore {
  /** Inserts the incident with its messages; one that is there stays as it is. @returns what is still to be published */
  open(told: IncidentChange): Promise<PendingOutbox>
  find(incidentId: string): Promise<Incident | undefined>
  /**
   * Writes the next version, and adds its messages, if nobody else wrote in between.
   * @returns what is still to be published; undefined when somebody did
   */
  replace(told: IncidentChange): Promise<PendingOutbox | undefined>
  /** What is still to be published; nothing for one that is not there. */
  pendingOf(incidentId: string): Promise<PendingOutbox>
  readonly outbox: OutboxSource
}

export interface InboxEntry {
  readonly document: InboxDocument
  /** JSON text. */
  readonly body: string
}

export interface Inbox {
  /** Which of these ids came, whatever became of them. */
  known(ids: readonly string[]): Promise<ReadonlySet<string>>
  /** Which of these ids are done. One that was parked is not: what could not be used may be usable when it is sent again. */
  done(ids: readonly string[]): Promise<ReadonlySet<string>>
  /** Marks events as done; one that is marked already stays as it is, unless it was parked. */
  insert(entries: readonly InboxEntry[]): Promise<void>
  /** Hints of the connection that wait for it to become readable, oldest first. Those without their body are gone. */
  held(connectionId: string, limit: number): Promise<InboxEntry[]>
  /** Marks held hints as asked for. */
  release(ids: readonly string[]): Promise<void>
  /** Marks hints that could not be verified as held, with the reason. */
  hold(ids: readonly string[], reason: string): Promise<void>
}

export interface ConnectionReader {
  /** Deleted ones too. */
  byIds(ids: readonly string[]): Promise<ReadonlyMap<string, ConnectionDocument>>
  /** Every active one whose provider's own data can be read. */
  readable(): Promise<ConnectionDocument[]>
}

/** Which expected changes are looked for. */
export interface ExpectedChangesQuery {
  readonly projectIds: readonly string[]
  /** Ids that they may be about; those that are about anything are found with any. */
  readonly names: readonly string[]
  /** Those that were still valid then or later, in milliseconds since the epoch. */
  readonly expiringAfter: number
}

/**
 * So many expected changes of one project about one payment, or about anything, are found at most: those that expire last. A person
 * writes an expected change for a refund, or one for a day of them, so a thousand that count at once come from a program gone wild.
 */
export const MAX_FOUND_FOR_ONE = 1_000

/** The changes that people expect. */
export interface ExpectedChangeReader {
  of(query: ExpectedChangesQuery): Promise<ExpectedChangeDocument[]>
  /** Those of these ids that nobody has taken back. */
  byIds(ids: readonly string[]): Promise<ExpectedChangeDocument[]>
  /**
   * Those that were made since, of each project those that were made last.
   * @param since milliseconds since the epoch
   * @param limit for each project
   */
  madeSince(since: number, limit: number): Promise<ExpectedChangeDocument[]>
}

/** The actions that people have open incidents about. */
export interface OpenActionReader {
  /** Those of a project, of the incident that was opened first on. @param after how far the walk has come */
  page(projectId: string, after: OpenPlace | undefined, limit: number): Promise<OpenAction[]>
  /** Those of these ids, whatever became of their incidents. */
  byIds(ids: readonly string[]): Promise<ActionDocument[]>
}

export interface OpenPlace {
  readonly openedAt: number
  readonly incidentId: string
}

/** An action with an open incident, as lists show it. */
export interface OpenAction extends OpenPlace {
  readonly action: ActionDocument
}

/** What is taken of expected changes, by the ids of these. */
export interface ExpectedChangeUsesStore {
  load(ids: readonly string[]): Promise<ReadonlyMap<string, ExpectedChangeUses>>
  /** @param next of a version one greater than the one that was read @returns whether nobody else wrote in between */
  save(next: ExpectedChangeUses): Promise<boolean>
}

export interface ReconcilerStores {
  readonly cases: CaseStore
  readonly projections: ProjectionStore
  readonly standaloneIncidents: StandaloneIncidentStore
  readonly inbox: Inbox
  readonly connections: ConnectionReader
  readonly expectedChanges: ExpectedChangeReader
  readonly expectedChangeUses: ExpectedChangeUsesStore
  readonly openActions: OpenActionReader
  readonly sweeps: SweepStore
}
