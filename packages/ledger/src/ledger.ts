import {
  type Budget,
  isoTime,
  type NewOperation,
  type NewTransition,
  newId,
  type Operation,
  type OperationState,
  type OutboxEntry,
} from '@backstop/contracts'
import { AppError, lostRace, type PendingOutbox } from '@backstop/kit'
import { LedgerRefusal } from './refusal.ts'
import { compareReport } from './rules/agreement.ts'
import { approvalEntries, operationEntry } from './rules/announcements.ts'
import { type ApprovalPolicy, dueOf, type Mover } from './rules/approval.ts'
import { type BudgetMove, leftOf, type PeriodAccount, settleShares, takeShares, takesAnew } from './rules/budget.ts'
import { applyTransition, type OperationConnection, recordOperation, remind } from './rules/operation.ts'

/** Operations as everyone uses them. All calls throw AppError `unavailable` when the store is away. */
export interface Ledger {
  /**
   * Records an operation in the state that is reported; a request waits for approval where its project requires it. Reporting
   * again under the same idempotency key of the same connection answers the operation that is stored; a report that goes
   * further moves it on, as a transition does.
   * @param now milliseconds since the epoch
   * @param operationId for a caller who may repeat itself after a crash: the same id is stored once only, and every repeat of
   *   the report that stored it hears that it was created
   * @throws AppError `idempotency_conflict` when the key was used for another operation; `budget_exceeded` when what is
   *   requested does not fit; `illegal_transition` when it is reported as approved where people approve; `invalid_request`
   *   when a time contradicts the state, or a budget cannot count it
   */
  record(
    reported: NewOperation,
    connection: OperationConnection,
    now: number,
    operationId?: string,
  ): Promise<{ operation: Operation; outcome: RecordOutcome }>
  /**
   * Moves an operation on. Repeating the last report answers the operation unchanged.
   * @throws AppError `not_found`; `illegal_transition`; `conflict` when it names another provider_ref than before
   */
  transition(operationId: string, transition: NewTransition, now: number): Promise<Operation>
  /**
   * A person's decision on an operation that waits for approval. Repeating it answers the operation unchanged.
   * @throws AppError `not_found`; `illegal_transition`
   */
  decide(operationId: string, decision: Decision, now: number): Promise<Operation>
  /** Ids of operations whose approval is due to remind or to expire, longest due first. */
  dueApprovals(now: number, limit: number): Promise<string[]>
  /** Does what is due about the approval of an operation. Of several callers at once, one does it. */
  fireTimer(operationId: string, now: number): Promise<'reminded' | 'expired' | 'nothing_due'>
  get(operationId: string): Promise<Operation | undefined>
  /** Newest first. */
  list(query: OperationFilter): Promise<Operation[]>
  /** Every operation that names any of the references, which hold the project (see contracts/references.ts). One read. */
  byReferences(references: readonly string[]): Promise<Operation[]>
  /** Which of the connections ever had an operation that reached executing: what out_of_band `auto` asks. One read. */
  hasExecuted(connectionIds: readonly string[]): Promise<ReadonlySet<string>>
}

/** What became of a report: a new operation, a change of the one that was stored, or nothing new. */
export type RecordOutcome = 'created' | 'moved' | 'unchanged'

export interface Decision {
  readonly to: 'approved' | 'declined'
  /** The API key that decides. */
  readonly keyId: string
  readonly reason?: string | undefined
}

export interface OperationFilter {
  readonly projectId?: string | undefined
  readonly connectionId?: string | undefined
  readonly state?: OperationState | undefined
  readonly subject?: string | undefined
  readonly runId?: string | undefined
  /** Continue after this one. */
  readonly after?: { readonly createdAt: string; readonly operationId: string } | undefined
  readonly limit: number
}

/** One version of an operation with all that it causes. Version 1 is new; any other replaces the one before it. */
export interface OperationWrite {
  readonly operation: Operation
  readonly entries: readonly OutboxEntry[]
  readonly moves: readonly BudgetMove[]
  /** Milliseconds since the epoch. */
  readonly now: number
}

export type WriteOutcome =
  /** With every entry that lies in its outbox for this version. */
  | { readonly kind: 'written'; readonly entries: readonly OutboxEntry[] }
  /** The id, the idempotency key on that connection, or the version is somebody else's. */
  | { readonly kind: 'taken' }
  | { readonly kind: 'exceeded'; readonly budget: Budget; readonly account: PeriodAccount }

/** What the ledger keeps, as a narrow port. `mongo-operations.ts` is the real one, `test/memory-books.ts` its twin. */
export interface OperationStore {
  /** The operation, its outbox and every budget that it moves, in one step or not at all. */
  write(write: OperationWrite): Promise<WriteOutcome>
  load(operationId: string): Promise<Operation | undefined>
  loadByIdempotencyKey(connectionId: string, key: string): Promise<Operation | undefined>
  list(filter: OperationFilter): Promise<Operation[]>
  byReferences(references: readonly string[]): Promise<Operation[]>
  dueApprovals(now: number, limit: number): Promise<string[]>
  /** What the project asks for before its operations may execute. */
  approvalPolicy(projectId: string): Promise<ApprovalPolicy>
  /** The budgets of a project that are not deleted. */
  budgetsOf(projectId: string): Promise<Budget[]>
  /** Marks the connection as one that has executed; a mark that is there stays as it is. */
  markExecuted(operation: Operation, now: number): Promise<void>
  executedConnections(connectionIds: readonly string[]): Promise<ReadonlySet<string>>
}

export interface LedgerOptions {
  /**
   * Called after each write with what is to be published. It is not to throw for a broker that is away: the operation is
   * stored, and the sweeper publishes what stays.
   */
  readonly announce: (outbox: PendingOutbox) => Promise<void>
}

/** Each time somebody else wrote in between, so that many losses in a row mean that something is wrong. */
const MAX_TRIES = 20

/** The ledger over a store. */
export function createLedger(store: OperationStore, options: LedgerOptions): Ledger {
  /** @returns false when somebody else wrote in between */
  async function save(before: Operation | undefined, next: Operation, alerts: readonly OutboxEntry[], now: number) {
    const { operation, moves } = await shareOut(before, next, now)
    // The mark comes before the operation: `auto` may hear of an execution early, and never too late.
    if (operation.executing_at !== null) await store.markExecuted(operation, now)
    const outcome = await store.write({ operation, entries: [operationEntry(operation), ...alerts], moves, now })
    switch (outcome.kind) {
      case 'written':
        await options.announce({ documentId: operation.operation_id, entries: outcome.entries })
        return operation
      case 'exceeded':
        throw exceeded(operation, outcome)
      case 'taken':
        return undefined
      default:
        return outcome satisfies never
    }
  }

  async function shareOut(before: Operation | undefined, next: Operation, now: number) {
    if (!takesAnew(before, next.state))
      return before === undefined ? { operation: next, moves: [] } : settleShares(before, next)
    const sharing = takeShares(next, await store.budgetsOf(next.project_id), now)
    if (sharing.kind === 'uncountable') throw new LedgerRefusal(sharing)
    return sharing
  }

  /** What a report is to the operation that was reported under its key before; undefined where there is none. */
  async function repeat(reported: NewOperation, connection: OperationConnection, now: number, operationId: string) {
    if (reported.idempotency_key === undefined) return undefined
    const stored = await store.loadByIdempotencyKey(connection._id, reported.idempotency_key)
    if (stored === undefined) return undefined
    const agreement = compareReport(stored, reported)
    switch (agreement.kind) {
      case 'agrees':
        return { operation: stored, outcome: stored.operation_id === operationId ? 'created' : 'unchanged' } as const
      case 'goes_on': {
        const { provider_ref, executing_at, ended_at, reason } = reported
        const further = { to: agreement.to, provider_ref, executing_at, ended_at, reason }
        return { operation: await transition(stored.operation_id, further, now), outcome: 'moved' } as const
      }
      case 'differs':
        throw new LedgerRefusal({ kind: 'report_differs', stored, reported, field: agreement.field })
      default:
        return agreement satisfies never
    }
  }

  async function record(
    reported: NewOperation,
    connection: OperationConnection,
    now: number,
    operationId = newId('operation'),
  ) {
    const before = await repeat(reported, connection, now, operationId)
    if (before !== undefined) return before
    const policy = await store.approvalPolicy(connection.project_id)
    const recorded = recordOperation(operationId, reported, connection, policy, now)
    if (recorded.kind === 'bad_time') throw new LedgerRefusal({ ...recorded, kind: 'time' })
    if (recorded.kind === 'refused') throw new LedgerRefusal({ kind: 'reported_as_approved' })
    const saved = await save(undefined, recorded.operation, asksForApproval(undefined, recorded.operation, now), now)
    if (saved !== undefined) return { operation: saved, outcome: 'created' } as const
    // Somebody reported the same key at the same time, and won; or this is the caller's own repeat.
    const winner = await repeat(reported, connection, now, operationId)
    if (winner !== undefined) return winner
    const own = await store.load(operationId)
    if (own === undefined) throw lostRace(`operation ${operationId}`)
    return { operation: own, outcome: 'created' } as const
  }

  async function move(operationId: string, reported: NewTransition, mover: Mover, now: number): Promise<Operation> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const stored = await store.load(operationId)
      if (stored === undefined) throw new AppError('not_found', `There is no operation ${operationId}`)
      const policy = await store.approvalPolicy(stored.project_id)
      const outcome = applyTransition(stored, reported, { mover, policy }, now)
      if (outcome.kind === 'refused') {
        throw new LedgerRefusal({ kind: 'transition', operation: stored, to: reported.to, reason: outcome.reason })
      }
      if (outcome.kind === 'bad_time') throw new LedgerRefusal({ ...outcome, kind: 'time' })
      if (outcome.kind === 'unchanged') return stored
      const saved = await save(stored, outcome.operation, asksForApproval(stored, outcome.operation, now), now)
      if (saved !== undefined) return saved
    }
    throw lostRace(`operation ${operationId}`)
  }

  const transition: Ledger['transition'] = (operationId, reported, now) =>
    move(operationId, reported, { kind: 'reporter' }, now)

  const decide: Ledger['decide'] = (operationId, { to, keyId, reason }, now) =>
    move(operationId, { to, reason }, { kind: 'approver', keyId }, now)

  async function fireTimer(operationId: string, now: number) {
    const stored = await store.load(operationId)
    const due = stored === undefined ? 'nothing_due' : dueOf(stored, now)
    if (stored === undefined || due === 'nothing_due') return 'nothing_due'
    if (due === 'remind') {
      const reminded = remind(stored, now)
      const saved = await save(stored, reminded, approvalEntries(reminded, 'approval.reminder', now), now)
      return saved === undefined ? 'nothing_due' : 'reminded'
    }
    const policy = await store.approvalPolicy(stored.project_id)
    const expired = applyTransition(stored, { to: 'expired' }, { mover: { kind: 'timer' }, policy }, now)
    if (expired.kind !== 'moved') return 'nothing_due'
    const alerts = approvalEntries(expired.operation, 'approval.expired', now)
    return (await save(stored, expired.operation, alerts, now)) === undefined ? 'nothing_due' : 'expired'
  }

  return {
    record,
    transition,
    decide,
    fireTimer,
    dueApprovals: (now, limit) => store.dueApprovals(now, limit),
    get: operationId => store.load(operationId),
    list: filter => store.list(filter),
    byReferences: references => (references.length === 0 ? Promise.resolve([]) : store.byReferences(references)),
    hasExecuted: connectionIds =>
      connectionIds.length === 0 ? Promise.resolve(new Set()) : store.executedConnections(connectionIds),
  }
}

function asksForApproval(before: Operation | undefined, next: Operation, now: number): OutboxEntry[] {
  const asks = next.state === 'approval_pending' && before?.state !== 'approval_pending'
  return asks ? approvalEntries(next, 'approval.requested', now) : []
}

function exceeded(
  operation: Operation,
  { budget, account }: Extract<WriteOutcome, { kind: 'exceeded' }>,
): LedgerRefusal {
  const periodEndsAt = isoTime(account.endsAt)
  return new LedgerRefusal({ kind: 'budget_exceeded', operation, budget, left: leftOf(budget, account), periodEndsAt })
}
