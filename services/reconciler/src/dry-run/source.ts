import type {
  ActionDocument,
  ConnectionDocument,
  ExpectedChangeDocument,
  InboxDocument,
  Operation,
} from '@backstop/contracts'
import type { Case } from '../case/case.ts'
import type { ExpectedChangeUses } from '../expected-change/expected-change-uses.ts'

/** What of the store a dry run is about. Times are milliseconds since the epoch. */
export interface Window {
  readonly from: number
  /** Excluded. */
  readonly to: number
  readonly projectId?: string | undefined
  readonly connectionId?: string | undefined
}

/** How far a walk has come: it goes on after this. */
export interface Place {
  readonly at: number
  readonly id: string
}

/** An action, as far as is needed to find its case. */
export type ActionAnchor = Pick<
  ActionDocument,
  '_id' | 'project_id' | 'connection_ids' | 'provider' | 'subject' | 'first_seen'
>

/** What a dry run reads. Nothing of it writes. All throw AppError `unavailable` when the database is away. */
export interface ReplaySource {
  /** Actions that were first seen in the window, in that order. */
  actions(window: Window, after: Place | undefined, limit: number): Promise<ActionAnchor[]>
  /** Events that came in the window, in that order. */
  inbox(window: Window, after: Place | undefined, limit: number): Promise<InboxDocument[]>
  actionsById(ids: readonly string[]): Promise<ActionAnchor[]>
  inboxById(ids: readonly string[]): Promise<InboxDocument[]>
  /** JSON texts by inbox id; those past their retention are missing. */
  bodies(inboxIds: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** Every case that holds any of the references. */
  cases(refs: readonly string[]): Promise<Case[]>
  operations(refs: readonly string[]): Promise<Operation[]>
  /** Deleted ones too. */
  connections(ids: readonly string[]): Promise<ReadonlyMap<string, ConnectionDocument>>
  /** When an operation of each connection first reached executing, where one did. */
  firstExecutions(connectionIds: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** Of these projects, about these ids or about anything; long expired ones, too. */
  expectedChanges(projectIds: readonly string[], names: readonly string[]): Promise<ExpectedChangeDocument[]>
  /** What is taken of these expected changes. */
  expectedChangeUses(ids: readonly string[]): Promise<ExpectedChangeUses[]>
}
