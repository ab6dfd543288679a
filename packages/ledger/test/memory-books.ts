import type { Budget, FailedRun, Operation, OutboxEntry } from '@backstop/contracts'
import type { OutboxSource } from '@backstop/kit/outbox'
import { type BudgetStore, createBudgets } from '../src/budgets.ts'
import {
  createLedger,
  type LedgerOptions,
  type OperationFilter,
  type OperationStore,
  type OperationWrite,
  type WriteOutcome,
} from '../src/ledger.ts'
import type { Books } from '../src/published-ledger.ts'
import { capAlertEntry } from '../src/rules/announcements.ts'
import { type ApprovalPolicy, nextTimerAt } from '../src/rules/approval.ts'
import { applyMoves, type PeriodAccount } from '../src/rules/budget.ts'
import { createRuns, type RunName, type RunStore, runDocumentId } from '../src/runs.ts'

/** The stored data. It is copied on reading and writing, as by a database. */
interface StoredData {
  readonly operations: Map<string, Operation>
  readonly executed: Set<string>
  readonly budgets: Map<string, Budget>
  readonly accounts: Map<string, PeriodAccount>
  readonly runs: Map<string, FailedRun>
  /** By document id. */
  readonly outboxes: Map<string, { entry: OutboxEntry; writtenAt: number }[]>
}

const NO_APPROVAL: ApprovalPolicy = { required: false, deadlineMs: 86_400_000 }

/**
 * The books in memory.
 * @param policyOf the approval policy of a project; if left out, no project requires approval
 */
export function openMemoryBooks(
  options: LedgerOptions,
  policyOf: (projectId: string) => Promise<ApprovalPolicy> = async () => NO_APPROVAL,
): Books {
  const held: StoredData = {
    operations: new Map(),
    executed: new Set(),
    budgets: new Map(),
    accounts: new Map(),
    runs: new Map(),
    outboxes: new Map(),
  }
  return {
    ledger: createLedger(operationStore(held, policyOf), options),
    budgets: createBudgets(budgetStore(held)),
    runs: createRuns(runStore(held), options),
    outboxSource: outboxSource(held),
  }
}

function operationStore(held: StoredData, approvalPolicy: OperationStore['approvalPolicy']): OperationStore {
  const all = () => [...held.operations.values()].map(operation => structuredClone(operation))
  const byKey = (connectionId: string, key: string) =>
    all().find(operation => operation.connection_id === connectionId && operation.idempotency_key === key)
  return {
    approvalPolicy,
    write: async write => writeAtomically(held, write),
    load: async operationId => structuredClone(held.operations.get(operationId)),
    loadByIdempotencyKey: async (connectionId, key) => byKey(connectionId, key),
    list: async filter =>
      newestFirst(all(), ({ created_at, operation_id }) => [created_at, operation_id])
        .filter(operation => matchesFilter(operation, filter))
        .slice(0, filter.limit),
    byReferences: async references =>
      all().filter(operation => operation.refs.some(reference => references.includes(reference))),
    changedAfter: async ({ updated_at, operation_id }, before, limit) =>
      all()
        .filter(operation => operation.executing_at !== null && Date.parse(operation.updated_at) < before)
        .map(operation => ({ operation, place: `${operation.updated_at} ${operation.operation_id}` }))
        .filter(({ place }) => place > `${updated_at} ${operation_id}`)
        .sort((a, b) => (a.place < b.place ? -1 : 1))
        .slice(0, limit)
        .map(({ operation }) => operation),
    dueApprovals: async (now, limit) =>
      all()
        .map(operation => ({ id: operation.operation_id, at: nextTimerAt(operation) ?? Number.POSITIVE_INFINITY }))
        .filter(({ at }) => at <= now)
        .sort((a, b) => a.at - b.at)
        .slice(0, limit)
        .map(({ id }) => id),
    budgetsOf: async projectId =>
      [...held.budgets.values()]
        .filter(budget => budget.project_id === projectId)
        .map(budget => structuredClone(budget)),
    async markExecuted(operation) {
      held.executed.add(operation.connection_id)
    },
    executedConnections: async connectionIds => new Set(connectionIds.filter(id => held.executed.has(id))),
  }
}

/** Runs without an await, so it is as atomic as a transaction. */
function writeAtomically(held: StoredData, { operation, entries, moves, now }: OperationWrite): WriteOutcome {
  const { operation_id: id, connection_id, idempotency_key: key } = operation
  const stored = held.operations.get(id)
  const hasKey = (other: Operation) => other.connection_id === connection_id && other.idempotency_key === key
  const isTaken =
    operation.version === 1
      ? stored !== undefined || (key !== null && [...held.operations.values()].some(hasKey))
      : stored?.version !== operation.version - 1
  if (isTaken) return { kind: 'taken' }
  const booking = applyMoves(moves, held.accounts)
  if (booking.kind === 'exceeded') return booking
  for (const account of booking.accounts) held.accounts.set(account.id, structuredClone(account))
  const written = [...entries, ...booking.reached.map(reached => capAlertEntry(reached, operation, now))]
  held.operations.set(id, structuredClone(operation))
  addToOutbox(held, id, written, now)
  return { kind: 'written', entries: written }
}

function budgetStore({ budgets, accounts }: StoredData): BudgetStore {
  const isThere = (budget: Budget, version: number) => budgets.get(budget.budget_id)?.version === version
  return {
    async insert(budget) {
      if (!budgets.has(budget.budget_id)) budgets.set(budget.budget_id, structuredClone(budget))
    },
    load: async id => structuredClone(budgets.get(id)),
    list: async ({ projectId, connectionId, after, limit }) =>
      newestFirst([...budgets.values()], ({ created_at, budget_id }) => [created_at, budget_id])
        .filter(
          budget =>
            (projectId === undefined || budget.project_id === projectId) &&
            (connectionId === undefined || budget.connection_id === connectionId) &&
            isAfterPosition([budget.created_at, budget.budget_id], after),
        )
        .slice(0, limit)
        .map(budget => structuredClone(budget)),
    async replace(budget) {
      if (!isThere(budget, budget.version - 1)) return false
      budgets.set(budget.budget_id, structuredClone(budget))
      return true
    },
    async remove(budget) {
      return isThere(budget, budget.version) && budgets.delete(budget.budget_id)
    },
    accounts: async ids => ids.flatMap(id => structuredClone(accounts.get(id)) ?? []),
  }
}

function runStore(held: StoredData): RunStore {
  const operationsOf = ({ projectId, runId }: RunName) =>
    [...held.operations.values()].filter(({ project_id, run_id }) => project_id === projectId && run_id === runId)
  const idOf = ({ project_id: projectId, run_id: runId }: FailedRun) => runDocumentId({ projectId, runId })
  return {
    async insert(id, run, entry) {
      if (held.runs.has(id)) return false
      held.runs.set(id, structuredClone(run))
      addToOutbox(held, id, [entry], Date.parse(run.reported_at))
      return true
    },
    load: async id => structuredClone(held.runs.get(id)),
    list: async ({ projectId, after, limit }) =>
      newestFirst([...held.runs.values()], run => [run.reported_at, idOf(run)])
        .filter(run => projectId === undefined || run.project_id === projectId)
        .filter(run => isAfterPosition([run.reported_at, idOf(run)], after))
        .slice(0, limit),
    projectsOf: async runId => {
      const named = [...held.operations.values(), ...held.runs.values()].filter(({ run_id }) => run_id === runId)
      return [...new Set(named.map(({ project_id }) => project_id))]
    },
    operationsOf: async (name, limit) => {
      const found = newestFirst(operationsOf(name), ({ created_at, operation_id }) => [created_at, operation_id])
      return { newest: structuredClone(found.slice(0, limit)), total: found.length }
    },
  }
}

function outboxSource({ outboxes }: StoredData): OutboxSource {
  return {
    pending: async (writtenBefore, limit) =>
      [...outboxes]
        .filter(([, outbox]) => outbox.some(({ writtenAt }) => writtenAt < writtenBefore))
        .slice(0, limit)
        .map(([documentId, outbox]) => ({ documentId, entries: outbox.map(({ entry }) => structuredClone(entry)) })),
    async published(documents) {
      for (const { documentId, entryIds } of documents) {
        const left = outboxes.get(documentId)?.filter(({ entry }) => !entryIds.includes(entry.id))
        if (left !== undefined) outboxes.set(documentId, left)
      }
    },
  }
}

function addToOutbox(
  { outboxes }: StoredData,
  documentId: string,
  entries: readonly OutboxEntry[],
  writtenAt: number,
): void {
  const added = entries.map(entry => ({ entry: structuredClone(entry), writtenAt }))
  outboxes.set(documentId, [...(outboxes.get(documentId) ?? []), ...added])
}

function matchesFilter(operation: Operation, filter: OperationFilter): boolean {
  const { after } = filter
  return (
    (filter.projectId === undefined || operation.project_id === filter.projectId) &&
    (filter.connectionId === undefined || operation.connection_id === filter.connectionId) &&
    (filter.state === undefined || operation.state === filter.state) &&
    (filter.subject === undefined || operation.subject === filter.subject) &&
    (filter.runId === undefined || operation.run_id === filter.runId) &&
    (filter.kind === undefined || operation.kind === filter.kind) &&
    (filter.providerRef === undefined || operation.provider_ref === filter.providerRef) &&
    (filter.currency === undefined || operation.currency === filter.currency) &&
    (filter.minAmount === undefined || (operation.amount ?? Number.NaN) >= filter.minAmount) &&
    (filter.maxAmount === undefined || (operation.amount ?? Number.NaN) <= filter.maxAmount) &&
    (filter.from === undefined || operation.created_at >= filter.from.toISOString()) &&
    (filter.to === undefined || operation.created_at < filter.to.toISOString()) &&
    isAfterPosition(
      [operation.created_at, operation.operation_id],
      after && { at: new Date(after.createdAt), id: after.operationId },
    )
  )
}

/** Every list is ordered by time and id. */
type ListPosition = readonly [at: string, id: string]

function isAfterPosition(
  [at, id]: ListPosition,
  after: { readonly at: Date; readonly id: string } | undefined,
): boolean {
  if (after === undefined) return true
  const afterAt = after.at.toISOString()
  return at < afterAt || (at === afterAt && id < after.id)
}

function newestFirst<T>(items: readonly T[], placeOf: (item: T) => ListPosition): T[] {
  const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
  return items.toSorted((a, b) => {
    const [[atA, idA], [atB, idB]] = [placeOf(a), placeOf(b)]
    return compare(atB, atA) || compare(idB, idA)
  })
}
