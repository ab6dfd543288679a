import type { Db } from 'mongodb'
import { createBudgets } from './budgets.ts'
import { createLedger, type LedgerOptions } from './ledger.ts'
import type { Books } from './published-ledger.ts'
import type { ApprovalPolicy } from './rules/approval.ts'
import { createRuns } from './runs.ts'
import { createMemoryBooks } from './store/memory-books.ts'
import { createMongoBudgetStore } from './store/mongo-budgets.ts'
import { createMongoOperationStore } from './store/mongo-operations.ts'
import { createMongoLedgerOutbox } from './store/mongo-outbox.ts'
import { createMongoRunStore } from './store/mongo-runs.ts'

export type { Budgets } from './budgets.ts'
export type { Decision, Ledger, LedgerOptions, OperationFilter, RecordOutcome } from './ledger.ts'
export { type Books, type OpenBooks, publishLedger } from './published-ledger.ts'
export { type ApprovalPolicy, approvalPolicyOf } from './rules/approval.ts'
export type { OperationConnection } from './rules/operation.ts'
export { type Runs, runDocumentId } from './runs.ts'

/** The books over MongoDB: collections `operations`, `first_executions`, `budgets`, `budget_periods` and `failed_runs`. */
export function openMongoBooks(db: Db, options: LedgerOptions): Books {
  return {
    ledger: createLedger(createMongoOperationStore(db), options),
    budgets: createBudgets(createMongoBudgetStore(db)),
    runs: createRuns(createMongoRunStore(db), options),
    outboxSource: createMongoLedgerOutbox(db),
  }
}

const NO_APPROVAL: ApprovalPolicy = { required: false, deadlineMs: 86_400_000 }

/** The books in memory. @param policyOf what projects ask for; none of them requires approval when left out */
export function openMemoryBooks(
  options: LedgerOptions,
  policyOf: (projectId: string) => Promise<ApprovalPolicy> = async () => NO_APPROVAL,
): Books {
  const { operations, budgets, runs, outboxSource } = createMemoryBooks(policyOf)
  return {
    ledger: createLedger(operations, options),
    budgets: createBudgets(budgets),
    runs: createRuns(runs, options),
    outboxSource,
  }
}
