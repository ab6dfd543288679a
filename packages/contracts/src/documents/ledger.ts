/** Documents of the ledger package, the only code that touches them (admin-api takes operations in, the reconciler settles them). */
import type { Budget } from '../budget.ts'
import type { Operation } from '../operation.ts'
import type { OutboxEntry, TimedOutboxEntry } from '../outbox-entry.ts'

export type OperationDocument = Omit<Operation, 'operation_id'> & {
  _id: string
  /** Messages that this document caused and that are not yet published. */
  outbox: OutboxEntry[]
  /** When the oldest entry of `outbox` was written; absent while it is empty. */
  outbox_at?: Date
  /** When its approval is due to remind people or to expire; absent where it has no timer. */
  timer_at?: Date
}

/** Present once any operation of the connection ever reached executing (out_of_band `auto`). */
export interface FirstExecutionDocument {
  /** The connection's id. */
  _id: string
  project_id: string
  operation_id: string
  at: Date
}

export type BudgetDocument = Omit<Budget, 'budget_id' | 'created_at' | 'updated_at'> & {
  _id: string
  created_at: Date
  updated_at: Date
  /** Kept after that, so that what operations took of it can still be read. */
  deleted_at: Date | null
}

/** What was taken of one budget in one period. Present once something was. */
export interface BudgetPeriodDocument {
  /** `<budget_id>/<first day>` */
  _id: string
  budget_id: string
  project_id: string
  starts_at: Date
  /** Excluded. */
  ends_at: Date
  /** Minor units of operations that completed. */
  used: number
  /** Minor units of operations that are under way. */
  reserved: number
  /** Shares of the cap, in percent, that people were told of: each once a period. */
  told_percents: number[]
}

/** A run of the execution feature that was reported as failed. */
export interface FailedRunDocument {
  /** Follows from project and run_id, which is the reporter's own. */
  _id: string
  project_id: string
  run_id: string
  reason: string | null
  failed_at: Date
  reported_at: Date
  outbox: TimedOutboxEntry[]
}
