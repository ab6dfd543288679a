/**
 * Documents of the ledger package, their only writer. admin-api records operations through it, and the reconciler records their outcomes.
 * The search of admin-api reads `operations` directly.
 */
import type { Budget } from '../actions/budget.ts'
import type { Operation } from '../actions/operation.ts'
import type { OutboxEntry, TimedOutboxEntry } from '../kafka/outbox-entry.ts'

/** An operation as it is stored, with its outbox and its timer. */
export type OperationDocument = Omit<Operation, 'operation_id'> & {
  _id: string
  /** The keys under which searches of admin-api find it (search-keys.ts). */
  search?: string[]
  /** Unpublished messages of this document. */
  outbox: OutboxEntry[]
  /** When the oldest entry of `outbox` was written; absent if `outbox` is empty. */
  outbox_at?: Date
  /** When the reminder or the expiry of the approval is due; absent if neither is pending. */
  timer_at?: Date
}

/**
 * Exists if an operation of the connection has reached executing. Unexplained changes of that connection then alert if `out_of_band` is
 * `auto`.
 */
export interface FirstExecutionDocument {
  /** The id of the connection. */
  _id: string
  project_id: string
  operation_id: string
  at: Date
}

/** A budget as it is stored. */
export type BudgetDocument = Omit<Budget, 'budget_id' | 'created_at' | 'updated_at'> & {
  _id: string
  created_at: Date
  updated_at: Date
  /** A deleted budget is kept, because its operations' reservations still refer to it. */
  deleted_at: Date | null
}

/** The spent and reserved amounts of one budget in one period. Created by the first operation of the period. */
export interface BudgetPeriodDocument {
  /** `<budget_id>/<first day>` */
  _id: string
  budget_id: string
  project_id: string
  starts_at: Date
  /** End of the period, exclusive. */
  ends_at: Date
  /** Minor units of operations that completed. */
  used: number
  /** Minor units of operations in flight. */
  reserved: number
  /** The shares of the cap, in percent, for which an alert was sent in this period. */
  told_percents: number[]
}

/** A run of the customer's software that was reported as failed. */
export interface FailedRunDocument {
  /** Derived from the project and the run_id, because the reporter chooses run_id. */
  _id: string
  project_id: string
  run_id: string
  reason: string | null
  failed_at: Date
  reported_at: Date
  outbox: TimedOutboxEntry[]
}
