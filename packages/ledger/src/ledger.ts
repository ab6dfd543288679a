import {
  type AuditDocument,
  type Budget,
  isoTime,
  type NewOperation,
  type NewTransition,
  newOrderedId,
  type Operation,
  type OutboxEntry,
} from '@backstop/contracts'
import { AppError, lostRace } from '@backstop/kit/errors'
import type { PendingOutbox } from '@backstop/kit/outbox'
import { LRUCache } from 'lru-cache'
import type { OperationStore, WriteOutcome } from './operation-store.ts'
import { auditEntries } from './publish/audit-rows.ts'
import { LedgerRefusal } from './refusal.ts'
import { compareReport } from './rules/agreement.ts'
import { approvalEntries, operationEntry } from './rules/announcements.ts'
import { dueTimerAction, type TransitionActor } from './rules/approval.ts'
import { allocateShares, needsNewShares, remainingAmount, updateShares } from './rules/budget.ts'
import { applyTransition, markReminded, type OperationConnection, recordOperation } from './rules/operation.ts'

/** Records operations and their states. All calls throw AppError `unavailable` if the store is unavailable. */
export interface Ledger extends Pick<OperationStore, 'list' | 'byReferences' | 'changedAfter' | 'dueApprovals'> {
  /**
   * Records an operation in the reported state. A request waits for approval if its project requires it. A repeated
   * report with the same idempotency key and connection returns the stored operation. If the repeat has a later state,
   * the operation moves there, like in a transition.
   * @param now milliseconds since the epoch
   * @throws LedgerRefusal `idempotency_conflict` if the key was used for another operation; `budget_exceeded` if the
   * request does not fit; `illegal_transition` if it is reported as approved and only people may approve;
   * `invalid_request` if a time contradicts the state, or a budget cannot count it
   */
  record(
    reported: NewOperation,
    connection: OperationConnection,
    now: number,
    recording?: Recording,
  ): Promise<{ operation: Operation; outcome: RecordOutcome }>
  /**
   * Moves an operation to another state. A repeat of the last report changes nothing.
   * @throws AppError `not_found`; `illegal_transition`; `conflict` if the provider_ref differs from the stored one
   */
  transition(
    operationId: string,
    transition: NewTransition,
    now: number,
    makeAuditRow?: MakeAuditRow,
  ): Promise<Transitioned>
  /**
   * Records a person's decision on an operation that waits for approval. A repeat changes nothing.
   * @throws AppError `not_found`; `illegal_transition`
   */
  decide(operationId: string, decision: Decision, now: number, makeAuditRow?: MakeAuditRow): Promise<Transitioned>
  /** Sends the reminder or records the expiry that is due. If several callers do so at once, one succeeds. */
  fireTimer(operationId: string, now: number): Promise<'reminded' | 'expired' | 'nothing_due'>
  get(operationId: string): Promise<Operation | undefined>
  /** Returns the project of an operation, mostly without a read. */
  projectOf(operationId: string): Promise<Pick<Operation, 'project_id'> | undefined>
  /**
   * Returns the connections with an operation that reached `executing`, with one read. `out_of_band: auto` alerts on
   * these.
   */
  hasExecuted(connectionIds: readonly string[]): Promise<ReadonlySet<string>>
}

/** Makes the audit row of a change, which is stored together with it. @param before undefined if the operation is new */
export type MakeAuditRow = (operation: Operation, before: Operation | undefined) => AuditDocument

/** How a report is recorded. */
export interface Recording {
  /** For callers that repeat a call after a crash: the operation is stored once, and every repeat returns `created`. */
  readonly operationId?: string
  /** The API key or person that reports it, who may not approve it. */
  readonly reportedBy?: string
  /** Without it, the report has no audit row. */
  readonly makeAuditRow?: MakeAuditRow | undefined
}

/** The effect of a report: a new operation, another state of the stored operation, or no change. */
export type RecordOutcome = 'created' | 'moved' | 'unchanged'

/** An operation before and after a report or decision: the same object if it changed nothing. */
export interface Transitioned {
  readonly operation: Operation
  readonly before: Operation
}

/** A person's decision on an approval. */
export interface Decision {
  readonly to: 'approved' | 'declined'
  /** The API key that the person used. */
  readonly approverId: string
  readonly reason?: string | undefined
}

/** The parts of its service that the ledger uses. */
export interface LedgerOptions {
  /** Publishes the messages of a write and moves its audit row, beside the answer to its caller: all are stored with it. */
  readonly announce: (outbox: PendingOutbox) => void
}

interface LedgerParts extends LedgerOptions {
  readonly store: OperationStore
  /**
   * Operations that have not ended, as this process knows them, so that the next report about one needs no read. They may be old: nothing but
   * a write that the version of the operation accepts follows from them.
   */
  readonly recent: LRUCache<string, Operation>
}

/** About 1 KB each. */
const MAX_RECENT = 5_000

/** Each retry means that another writer won, so this many in a row mean a fault. */
const MAX_TRIES = 20

/** Creates the ledger over a store. */
export function createLedger(store: OperationStore, options: LedgerOptions): Ledger {
  const parts: LedgerParts = { ...options, store, recent: new LRUCache({ max: MAX_RECENT }) }
  return {
    record: (...report) => recordReport(parts, ...report),
    transition: (operationId, reported, now, makeAuditRow) =>
      move(parts, operationId, reported, { mover: { kind: 'reporter' }, now, makeAuditRow }),
    decide: (operationId, { to, approverId, reason }, now, makeAuditRow) =>
      move(parts, operationId, { to, reason }, { mover: { kind: 'approver', approverId }, now, makeAuditRow }),
    fireTimer: (operationId, now) => fireTimer(parts, operationId, now),
    dueApprovals: (now, limit) => store.dueApprovals(now, limit),
    get: operationId => store.load(operationId),
    async projectOf(operationId) {
      const remembered = parts.recent.get(operationId)
      if (remembered !== undefined) return remembered
      const stored = await store.load(operationId)
      if (stored !== undefined) remember(parts, stored)
      return stored
    },
    list: filter => store.list(filter),
    byReferences: references => (references.length === 0 ? Promise.resolve([]) : store.byReferences(references)),
    changedAfter: (position, before, limit) => store.changedAfter(position, before, limit),
    hasExecuted: connectionIds =>
      connectionIds.length === 0 ? Promise.resolve(new Set()) : store.executedConnections(connectionIds),
  }
}

/** A change to store. */
interface Change {
  /** Undefined if the operation is new. */
  readonly before: Operation | undefined
  readonly next: Operation
  readonly now: number
  /** Default: the request for an approval, if `next` begins to wait for one. */
  readonly alerts?: readonly OutboxEntry[]
  /** The budgets of the project, if the caller has just read them. */
  readonly budgets?: readonly Budget[]
  readonly makeAuditRow?: MakeAuditRow | undefined
}

/** @returns undefined if another writer won @throws LedgerRefusal */
async function save(parts: LedgerParts, change: Change): Promise<Operation | undefined> {
  const saved = await trySave(parts, change)
  if (saved instanceof LedgerRefusal) throw saved
  return saved
}

/** @returns undefined if another writer won; the refusal if the operation does not fit into a budget */
async function trySave(parts: LedgerParts, change: Change): Promise<Operation | LedgerRefusal | undefined> {
  const { before, next, now, makeAuditRow, alerts = approvalRequestEntries(before, next, now) } = change
  const sharing = await changeShares(parts, change)
  if (sharing instanceof LedgerRefusal) return sharing
  const { operation, moves } = sharing
  // Executions are marked before the operation is stored. After a crash in between, `auto` may alert too early, but
  // never too late.
  if (operation.executing_at !== null) await parts.store.markExecuted(operation, now)
  const entries = [operationEntry(operation), ...alerts, ...auditEntries(makeAuditRow?.(operation, before))]
  const outcome = await parts.store.write({ operation, entries, moves, now })
  switch (outcome.kind) {
    case 'written':
      remember(parts, operation)
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

function remember({ recent }: LedgerParts, operation: Operation): void {
  if (operation.ended_at === null) recent.set(operation.operation_id, operation)
  else recent.delete(operation.operation_id)
}

async function changeShares({ store }: LedgerParts, { before, next, now, budgets }: Change) {
  if (!needsNewShares(before, next.state))
    return before === undefined ? { operation: next, moves: [] } : updateShares(before, next)
  const sharing = allocateShares(next, budgets ?? (await store.budgetsOf(next.project_id)), now)
  return sharing.kind === 'uncountable' ? new LedgerRefusal(sharing) : sharing
}

/** Applies a report to the stored operation with the same idempotency key. */
async function repeatReport(
  parts: LedgerParts,
  stored: Operation,
  reported: NewOperation,
  now: number,
  { operationId, makeAuditRow }: Recording,
) {
  const agreement = compareReport(stored, reported)
  switch (agreement.kind) {
    case 'agrees':
      return { operation: stored, outcome: stored.operation_id === operationId ? 'created' : 'unchanged' } as const
    case 'goes_on': {
      const { provider_ref, provider_request_id, executing_at, ended_at, reason } = reported
      const further = { to: agreement.to, provider_ref, provider_request_id, executing_at, ended_at, reason }
      const how = { mover: { kind: 'reporter' }, now, makeAuditRow, known: stored } as const
      return { operation: (await move(parts, stored.operation_id, further, how)).operation, outcome: 'moved' } as const
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
  { operationId = newOrderedId('operation', now), reportedBy, makeAuditRow }: Recording = {},
) {
  const { store } = parts
  const { idempotency_key: key } = reported
  const [policy, budgets] = await Promise.all([
    store.approvalPolicy(connection.project_id),
    store.budgetsOf(connection.project_id),
  ])
  const recorded = recordOperation(operationId, reported, connection, policy, now, reportedBy ?? null)
  const saved =
    recorded.kind === 'recorded'
      ? await trySave(parts, { before: undefined, next: recorded.operation, now, budgets, makeAuditRow })
      : new LedgerRefusal(
          recorded.kind === 'refused' ? { kind: 'reported_as_approved' } : { ...recorded, kind: 'time' },
        )
  if (saved !== undefined && !(saved instanceof LedgerRefusal)) return { operation: saved, outcome: 'created' } as const
  // Few reports repeat a stored one, so it is read only now: its key may be taken, and the share of the stored operation may be what leaves
  // no room.
  const stored = key === undefined ? undefined : await store.loadByIdempotencyKey(connection._id, key)
  if (stored !== undefined) return repeatReport(parts, stored, reported, now, { operationId, makeAuditRow })
  const own = await store.load(operationId)
  if (own !== undefined) return { operation: own, outcome: 'created' } as const
  throw saved ?? lostRace(`operation ${operationId}`)
}

interface Move extends Pick<Change, 'now' | 'makeAuditRow'> {
  readonly mover: TransitionActor
  /** The operation as the caller read it. */
  readonly known?: Operation
}

async function move(
  parts: LedgerParts,
  operationId: string,
  reported: NewTransition,
  { mover, now, makeAuditRow, known = parts.recent.get(operationId) }: Move,
): Promise<Transitioned> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const remembered = tries === 0 ? known : undefined
    const before = remembered ?? (await parts.store.load(operationId))
    if (before === undefined) throw new AppError('not_found', `There is no operation ${operationId}`)
    const asks = reported.to === 'approval_pending'
    const policy = asks ? await parts.store.approvalPolicy(before.project_id) : undefined
    const outcome = applyTransition(before, reported, { mover, policy }, now)
    if (outcome.kind === 'moved') {
      const saved = await save(parts, { before, next: outcome.operation, now, makeAuditRow })
      if (saved !== undefined) return { operation: saved, before }
      continue
    }
    // It may have changed since, so it is read before anything is said about it.
    if (remembered !== undefined) continue
    if (outcome.kind === 'unchanged') return { operation: before, before }
    if (outcome.kind === 'bad_time') throw new LedgerRefusal({ ...outcome, kind: 'time' })
    throw new LedgerRefusal({ kind: 'transition', operation: before, to: reported.to, reason: outcome.reason })
  }
  throw lostRace(`operation ${operationId}`)
}

async function fireTimer(parts: LedgerParts, operationId: string, now: number) {
  const stored = await parts.store.load(operationId)
  const due = stored === undefined ? 'nothing_due' : dueTimerAction(stored, now)
  if (stored === undefined || due === 'nothing_due') return 'nothing_due'
  if (due === 'remind') {
    const reminded = markReminded(stored, now)
    const alerts = approvalEntries(reminded, 'approval.reminder', now)
    const saved = await save(parts, { before: stored, next: reminded, now, alerts })
    return saved === undefined ? 'nothing_due' : 'reminded'
  }
  const expired = applyTransition(stored, { to: 'expired' }, { mover: { kind: 'timer' } }, now)
  if (expired.kind !== 'moved') return 'nothing_due'
  const alerts = approvalEntries(expired.operation, 'approval.expired', now)
  const saved = await save(parts, { before: stored, next: expired.operation, now, alerts })
  return saved === undefined ? 'nothing_due' : 'expired'
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
