import type { Budget, Operation, OperationState, OutboxEntry } from '@backstop/contracts'
import type { ApprovalPolicy } from './rules/approval.ts'
import type { BudgetMove, PeriodAccount } from './rules/budget.ts'

/** A place in the order of last changes: an operation and the time of its change. */
export type ChangePosition = Pick<Operation, 'updated_at' | 'operation_id'>

/** The operations to list. */
export interface OperationFilter {
  readonly projectId?: string | undefined
  readonly connectionId?: string | undefined
  readonly kind?: Operation['kind'] | undefined
  readonly state?: OperationState | undefined
  readonly subject?: string | undefined
  readonly providerRef?: string | undefined
  readonly runId?: string | undefined
  readonly currency?: string | undefined
  /** Minor units, inclusive. An operation without an amount is in no range. */
  readonly minAmount?: number | undefined
  readonly maxAmount?: number | undefined
  /** Limits created_at: `from` is included, `to` is excluded. */
  readonly from?: Date | undefined
  readonly to?: Date | undefined
  /** Continue after this operation. */
  readonly after?: { readonly createdAt: string; readonly operationId: string } | undefined
  readonly limit: number
}

/**
 * One version of an operation with its messages and budget changes. Version 1 inserts; later versions replace the
 * version before.
 */
export interface OperationWrite {
  readonly operation: Operation
  readonly entries: readonly OutboxEntry[]
  readonly moves: readonly BudgetMove[]
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** The result of a write. */
export type WriteOutcome =
  /** `entries` are all outbox entries of this version. */
  | { readonly kind: 'written'; readonly entries: readonly OutboxEntry[] }
  /** Another write already has this id, version, or idempotency key on the connection. */
  | { readonly kind: 'taken' }
  | { readonly kind: 'exceeded'; readonly budget: Budget; readonly account: PeriodAccount }

/** The store of operations, as a narrow port: `mongo-operations.ts`. */
export interface OperationStore {
  /** Stores the operation, its outbox entries and its budget changes atomically. */
  write(write: OperationWrite): Promise<WriteOutcome>
  load(operationId: string): Promise<Operation | undefined>
  loadByIdempotencyKey(connectionId: string, key: string): Promise<Operation | undefined>
  /** Returns operations, newest first. */
  list(filter: OperationFilter): Promise<Operation[]>
  /** Returns every operation with any of the references, which contain the project (contracts/references.ts), with one read. */
  byReferences(references: readonly string[]): Promise<Operation[]>
  /**
   * Returns operations that were sent to the provider, in the order of their last change, beginning after a position.
   * @param before milliseconds since the epoch; excluded
   */
  changedAfter(position: ChangePosition, before: number, limit: number): Promise<Operation[]>
  /** Returns ids of operations with a due reminder or expiry, in order of due time. */
  dueApprovals(now: number, limit: number): Promise<string[]>
  /** Returns the approval policy of a project. */
  approvalPolicy(projectId: string): Promise<ApprovalPolicy>
  /** Returns the budgets of a project, without deleted ones. */
  budgetsOf(projectId: string): Promise<Budget[]>
  /** Records the first execution on a connection; later calls change nothing. */
  markExecuted(operation: Operation, now: number): Promise<void>
  executedConnections(connectionIds: readonly string[]): Promise<ReadonlySet<string>>
}
