import type { Db } from 'mongodb'
import { createLedger, type LedgerOptions } from './ledger.ts'
import { createBudgets } from './manage-budgets.ts'
import type { Books } from './published-ledger.ts'
import { createRuns } from './runs.ts'
import { createMongoBudgetStore } from './store/mongo-budgets.ts'
import { createMongoOperationStore } from './store/mongo-operations.ts'
import { createMongoLedgerOutbox, createMongoPendingRows } from './store/mongo-outbox.ts'
import { createMongoRunStore } from './store/mongo-runs.ts'

export type { Decision, Ledger, LedgerOptions, MakeAuditRow, RecordOutcome } from './ledger.ts'
export type { Budgets } from './manage-budgets.ts'
export type { ChangePosition, OperationFilter } from './operation-store.ts'
export { type Books, type OpenBooks, type PublishedLedger, publishLedger } from './published-ledger.ts'
export { LedgerRefusal, type Refusal } from './refusal.ts'
export { type ApprovalPolicy, approvalPolicyOf } from './rules/approval.ts'
export type { OperationConnection } from './rules/operation.ts'
export { type Runs, runDocumentId } from './runs.ts'
export { sentAndChangedAfter } from './store/mongo-operations.ts'

/** The books over MongoDB: collections `operations`, `first_executions`, `budgets`, `budget_periods` and `failed_runs`. */
export function openMongoBooks(db: Db, options: LedgerOptions): Books {
  return {
    ledger: createLedger(createMongoOperationStore(db), options),
    budgets: createBudgets(createMongoBudgetStore(db)),
    runs: createRuns(createMongoRunStore(db), options),
    outboxSource: createMongoLedgerOutbox(db),
    pendingRows: createMongoPendingRows(db),
  }
}
