import type {
  ActionDocument,
  ConnectionDocument,
  ExpectedChangeDocument,
  InboxDocument,
  Operation,
} from '@backstop/contracts'
import type { Case, ExpectedChangeUses } from '@backstop/verdict'

/** The part of the stored data that a dry run compares. Times are milliseconds since the epoch. */
export interface Window {
  readonly from: number
  /** Exclusive. */
  readonly to: number
  readonly projectId?: string | undefined
  readonly connectionId?: string | undefined
}

/** The last entry that was read. The next page begins after it. */
export interface PagePosition {
  readonly at: number
  readonly id: string
}

/** The fields of an action that lead to its case. */
export type ActionAnchor = Pick<
  ActionDocument,
  '_id' | 'project_id' | 'connection_ids' | 'provider' | 'subject' | 'first_seen'
>

/**
 * The data that a dry run reads. It writes nothing. All methods throw AppError `unavailable` if the database is
 * unavailable.
 */
export interface ReplaySource {
  /** Actions that were first seen in the window, ordered by that time. */
  actions(window: Window, after: PagePosition | undefined, limit: number): Promise<ActionAnchor[]>
  /** Events that were received in the window, ordered by that time. */
  inbox(window: Window, after: PagePosition | undefined, limit: number): Promise<InboxDocument[]>
  actionsById(ids: readonly string[]): Promise<ActionAnchor[]>
  inboxById(ids: readonly string[]): Promise<InboxDocument[]>
  /** JSON texts by inbox id. Bodies whose retention has ended are missing. */
  bodies(inboxIds: readonly string[]): Promise<ReadonlyMap<string, string>>
  cases(refs: readonly string[]): Promise<Case[]>
  operations(refs: readonly string[]): Promise<Operation[]>
  /** Includes deleted connections. */
  connections(ids: readonly string[]): Promise<ReadonlyMap<string, ConnectionDocument>>
  /** When the first operation of each connection reached `executing`. Connections without one are missing. */
  firstExecutions(connectionIds: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** Expected changes of these projects about these ids or without a subject, including expired ones. */
  expectedChanges(projectIds: readonly string[], names: readonly string[]): Promise<ExpectedChangeDocument[]>
  /** How much of these expected changes is used. */
  expectedChangeUses(ids: readonly string[]): Promise<ExpectedChangeUses[]>
}
