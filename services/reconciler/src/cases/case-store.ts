import type { OutboxSource } from '@backstop/kit/outbox'
import type { Case, CaseOutboxEntry } from '@backstop/verdict'

/**
 * Cases. Every call of the reconciler's stores takes a whole batch, so that the number of commands does not grow with the number of
 * events. All methods throw AppError `unavailable` if the database is unavailable. The store in memory, for simulations, passes the same
 * contract: `test/<store>.contract.ts`.
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
