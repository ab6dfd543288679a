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
import { AppError, lostRace } from '@backstop/kit/errors'
import type { PendingOutbox } from '@backstop/kit/outbox'
import { LedgerRefusal } from './refusal.ts'
import { compareReport } from './rules/agreement.ts'
import { approvalEntries, operationEntry } from './rules/announcements.ts'
import { type ApprovalPolicy, dueTimerAction, type TransitionActor } from './rules/approval.ts'
import {
  allocateShares,
  type BudgetMove,
  needsNewShares,
  type PeriodAccount,
  remainingAmount,
  updateShares,
} from './rules/budget.ts'
import { applyTransition, markReminded, type OperationConnection, recordOperation } from './rules/operation.ts'

/** Records operations and their states. All calls throw AppError `unavailable` if the store is unavailable. */
export interface Ledger extends Pick<OperationStore, 'list' | 'byReferences' | 'changedAfter' | 'dueApprovals'> {
  /**
   * Records an operation in the reported state. A request waits for approval if its project requires it. A repeated
   * report with the same idempotency key and connection returns the stored operation. If the repeat has a later state,
   * the operation moves there, like in a transition.
   * @param now milliseconds since the epoch
   * @param operationId for callers that repeat a call after a crash: the operation is stored once, and every repeat
   * returns `created`
   * @param reportedBy the API key or person that reports it, who may not approve it
   * @throws LedgerRefusal `idempotency_conflict` if the key was used for another operation; `budget_exceeded` if the
   * request does not fit; `illegal_transition` if it is reported as approved and only people may approve;
   * `invalid_request` if a time contradicts the state, or a budget cannot count it
   */
  record(
    reported: NewOperation,
    connection: OperationConnection,
    now: number,
    operationId?: string,
    reportedBy?: string | null,
  ): Promise<{ operation: Operation; outcome: RecordOutcome }>
  /**
   * Moves an operation to another state. A repeat of the last report returns the operation unchanged.
   * @param known the operation as the caller has just read it, which saves a read. If it has changed since, it is read again
   * @throws AppError `not_found`; `illegal_transition`; `conflict` if the provider_ref differs from the stored one
   */
  transition(operationId: string, transition: NewTransition, now: number, known?: Operation): Promise<Operation>
  /**
   * Records a person's decision on an operation that waits for approval. A repeat returns the operation unchanged.
   * @throws AppError `not_found`; `illegal_transition`
   */
  decide(operationId: string, decision: Decision, now: number): Promise<Operation>
  /** Sends the reminder or records the expiry that is due. If several callers do so at once, one succeeds. */
  fireTimer(operationId: string, now: number): Promise<'reminded' | 'expired' | 'nothing_due'>
  get(operationId: string): Promise<Operation | undefined>
  /**
   * Returns the connections with an operation that reached `executing`, with one read. `out_of_band: auto` alerts on
   * these.
   */
  hasExecuted(connectionIds: readonly string[]): Promise<ReadonlySet<string>>
}

/** The effect of a report: a new operation, another state of the stored operation, or no change. */
export type RecordOutcome = 'created' | 'moved' | 'unchanged'

/** A person's decision on an approval. */
export interface Decision {
  readonly to: 'approved' | 'declined'
  /** The API key that the person used. */
  readonly approverId: string
  readonly reason?: string | undefined
}

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

/** The parts of its service that the ledger uses. */
export interface LedgerOptions {
  /**
   * Publishes the messages of a write, beside the answer to its caller: the write is stored with them.
   */
  readonly announce: (outbox: PendingOutbox) => void
}

type LedgerParts = LedgerOptions & { readonly store: OperationStore }

/** Each retry means that another writer won, so this many in a row mean a fault. */
const MAX_TRIES = 20

/** Creates the ledger over a store. */
export function createLedger(store: OperationStore, options: LedgerOptions): Ledger {
  const parts: LedgerParts = { ...options, store }
  return {
    record: (...report) => recordReport(parts, ...report),
    transition: (operationId, reported, now, known) =>
      move(parts, operationId, reported, { kind: 'reporter' }, now, known),
    decide: (operationId, { to, approverId, reason }, now) =>
      move(parts, operationId, { to, reason }, { kind: 'approver', approverId }, now),
    fireTimer: (operationId, now) => fireTimer(parts, operationId, now),
    dueApprovals: (now, limit) => store.dueApprovals(now, limit),
    get: operationId => store.load(operationId),
    list: filter => store.list(filter),
    byReferences: references => (references.length === 0 ? Promise.resolve([]) : store.byReferences(references)),
    changedAfter: (position, before, limit) => store.changedAfter(position, before, limit),
    hasExecuted: connectionIds =>
      connectionIds.length === 0 ? Promise.resolve(new Set()) : store.executedConnections(connectionIds),
  }
}

/** @returns undefined if another writer won @throws LedgerRefusal */
async function save(...change: Parameters<typeof trySave>): Promise<Operation | undefined> {
  const saved = await trySave(...change)
  if (saved instanceof LedgerRefusal) throw saved
  return saved
}

/** @returns undefined if another writer won; the refusal if the operation does not fit into a budget */
async function trySave(
  parts: LedgerParts,
  before: Operation | undefined,
  next: Operation,
  now: number,
  alerts: readonly OutboxEntry[] = approvalRequestEntries(before, next, now),
): Promise<Operation | LedgerRefusal | undefined> {
  const { operation, moves } = await changeShares(parts, before, next, now)
  // Executions are marked before the operation is stored. After a crash in between, `auto` may alert too early, but
  // never too late.
  if (operation.executing_at !== null) await parts.store.markExecuted(operation, now)
  const outcome = await parts.store.write({ operation, entries: [operationEntry(operation), ...alerts], moves, now })
  switch (outcome.kind) {
    case 'written':
      parts.announce({ documentId: operation.operation_id, entries: outcome.entries })
      return operation
    case 'exceeded':
      return budgetExceededRefusal(operation, outcome)
    case 'taken':
      return undefined
    default:
      return outcome satisfies never
  }
}

async function changeShares(parts: LedgerParts, before: Operation | undefined, next: Operation, now: number) {
  if (!needsNewShares(before, next.state))
    return before === undefined ? { operation: next, moves: [] } : updateShares(before, next)
  const sharing = allocateShares(next, await parts.store.budgetsOf(next.project_id), now)
  if (sharing.kind === 'uncountable') throw new LedgerRefusal(sharing)
  return sharing
}

/**
 * Applies a report to the stored operation with the same idempotency key.
 * @returns undefined if there is none
 */
async function repeatReport(
  parts: LedgerParts,
  reported: NewOperation,
  connection: OperationConnection,
  now: number,
  operationId: string,
) {
  if (reported.idempotency_key === undefined) return undefined
  const stored = await parts.store.loadByIdempotencyKey(connection._id, reported.idempotency_key)
  if (stored === undefined) return undefined
  const agreement = compareReport(stored, reported)
  switch (agreement.kind) {
    case 'agrees':
      return { operation: stored, outcome: stored.operation_id === operationId ? 'created' : 'unchanged' } as const
    case 'goes_on': {
      const { provider_ref, provider_request_id, executing_at, ended_at, reason } = reported
      const further = { to: agreement.to, provider_ref, provider_request_id, executing_at, ended_at, reason }
      return {
        operation: await move(parts, stored.operation_id, further, { kind: 'reporter' }, now, stored),
        outcome: 'moved',
      } as const
    }
    case 'differs':
      throw new LedgerRefusal({ kind: 'report_differs', stored, reported, field: agreement.field })
    default:
      return agreement satisfies never
  }
}

async function recordReport(
  parts: LedgerParts,
  reported: NewOperation,
  connection: OperationConnection,
  now: number,
  operationId = newId('operation'),
  reportedBy: string | null = null,
) {
  const before = await repeatReport(parts, reported, connection, now, operationId)
  if (before !== undefined) return before
  const policy = await parts.store.approvalPolicy(connection.project_id)
  const recorded = recordOperation(operationId, reported, connection, policy, now, reportedBy)
  if (recorded.kind === 'bad_time') throw new LedgerRefusal({ ...recorded, kind: 'time' })
  if (recorded.kind === 'refused') throw new LedgerRefusal({ kind: 'reported_as_approved' })
  const saved = await trySave(parts, undefined, recorded.operation, now)
  if (saved !== undefined && !(saved instanceof LedgerRefusal)) return { operation: saved, outcome: 'created' } as const
  // The key may be taken, by a concurrent report or by an earlier call of this caller. Then the share of the stored operation may be what
  // leaves no room.
  const winner = await repeatReport(parts, reported, connection, now, operationId)
  if (winner !== undefined) return winner
  const own = await parts.store.load(operationId)
  if (own !== undefined) return { operation: own, outcome: 'created' } as const
  throw saved ?? lostRace(`operation ${operationId}`)
}

async function move(
  parts: LedgerParts,
  operationId: string,
  reported: NewTransition,
  mover: TransitionActor,
  now: number,
  known?: Operation,
): Promise<Operation> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const stored = tries === 0 && known !== undefined ? known : await parts.store.load(operationId)
    if (stored === undefined) throw new AppError('not_found', `There is no operation ${operationId}`)
    const asks = reported.to === 'approval_pending'
    const policy = asks ? await parts.store.approvalPolicy(stored.project_id) : undefined
    const outcome = applyTransition(stored, reported, { mover, policy }, now)
    if (outcome.kind === 'refused') {
      throw new LedgerRefusal({ kind: 'transition', operation: stored, to: reported.to, reason: outcome.reason })
    }
    if (outcome.kind === 'bad_time') throw new LedgerRefusal({ ...outcome, kind: 'time' })
    if (outcome.kind === 'unchanged') return stored
    const saved = await save(parts, stored, outcome.operation, now)
    if (saved !== undefined) return saved
  }
  throw lostRace(`operation ${operationId}`)
}

async function fireTimer(parts: LedgerParts, operationId: string, now: number) {
  const stored = await parts.store.load(operationId)
  const due = stored === undefined ? 'nothing_due' : dueTimerAction(stored, now)
  if (stored === undefined || due === 'nothing_due') return 'nothing_due'
  if (due === 'remind') {
    const reminded = markReminded(stored, now)
    const saved = await save(parts, stored, reminded, now, approvalEntries(reminded, 'approval.reminder', now))
    return saved === undefined ? 'nothing_due' : 'reminded'
  }
  const expired = applyTransition(stored, { to: 'expired' }, { mover: { kind: 'timer' } }, now)
  if (expired.kind !== 'moved') return 'nothing_due'
  const alerts = approvalEntries(expired.operation, 'approval.expired', now)
  return (await save(parts, stored, expired.operation, now, alerts)) === undefined ? 'nothing_due' : 'expired'
}

function approvalRequestEntries(before: Operation | undefined, next: Operation, now: number): OutboxEntry[] {
  const asks = next.state === 'approval_pending' && before?.state !== 'approval_pending'
  return asks ? approvalEntries(next, 'approval.requested', now) : []
}

function budgetExceededRefusal(
  operation: Operation,
  { budget, account }: Extract<WriteOutcome, { kind: 'exceeded' }>,
): LedgerRefusal {
  const periodEndsAt = isoTime(account.endsAt)
  return new LedgerRefusal({
    kind: 'budget_exceeded',
    operation,
    budget,
    left: remainingAmount(budget, account),
    periodEndsAt,
  })
}
