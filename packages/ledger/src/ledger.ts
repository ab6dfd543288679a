import {
  type NewOperation,
  type NewTransition,
  newId,
  type Operation,
  type OperationState,
  type OutboxEntry,
  partitionKey,
} from '@backstop/contracts'
import { AppError, type PendingOutbox } from '@backstop/kit'
import { compareReport } from './domain/agreement.ts'
import { applyTransition, type OperationConnection, recordOperation } from './domain/operation.ts'
import { refusedReport, refusedTime, refusedTransition } from './refusal.ts'

/** Operations as everyone uses them. All calls throw AppError `unavailable` when the store is away. */
export interface Ledger {
  /**
   * Records an operation in the state that is reported. Reporting again under the same idempotency key of the same
   * connection answers the operation that is stored; a report that goes further moves it on, as a transition does.
   * @param now milliseconds since the epoch
   * @param operationId for a caller who may repeat itself after a crash: the same id is stored once only, and every repeat of
   *   the report that stored it hears that it was created
   * @throws AppError `idempotency_conflict` when the key was used for another operation; `invalid_request` when a time
   *   contradicts the state
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

export interface OperationFilter {
  readonly projectId?: string | undefined
  readonly connectionId?: string | undefined
  readonly state?: OperationState | undefined
  readonly subject?: string | undefined
  /** Continue after this one. */
  readonly after?: { readonly createdAt: string; readonly operationId: string } | undefined
  readonly limit: number
}

/** What the ledger keeps, as a narrow port. `mongo-store.ts` is the real one, `memory-store.ts` its twin. */
export interface OperationStore {
  /** @returns false when the id, or the idempotency key on that connection, is taken */
  insert(operation: Operation, entry: OutboxEntry): Promise<boolean>
  /** Replaces version `operation.version - 1` and adds to its outbox, in one step. @returns false when another version is there */
  replace(operation: Operation, entry: OutboxEntry): Promise<boolean>
  load(operationId: string): Promise<Operation | undefined>
  loadByIdempotencyKey(connectionId: string, key: string): Promise<Operation | undefined>
  list(filter: OperationFilter): Promise<Operation[]>
  byReferences(references: readonly string[]): Promise<Operation[]>
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
  /** The mark comes before the operation: `auto` may hear of an execution early, and never too late. */
  async function markIfExecuted(operation: Operation, now: number): Promise<void> {
    if (operation.executing_at !== null) await store.markExecuted(operation, now)
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
        throw refusedReport(stored, reported, agreement.field)
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
    const recorded = recordOperation(operationId, reported, connection, now)
    if (recorded.kind === 'bad_time') throw refusedTime(recorded)
    const { operation } = recorded
    await markIfExecuted(operation, now)
    const entry = outboxEntry(operation)
    if (await store.insert(operation, entry)) {
      await options.announce({ documentId: operation.operation_id, entries: [entry] })
      return { operation, outcome: 'created' } as const
    }
    // Somebody reported the same key at the same time, and won; or this is the caller's own repeat.
    const winner = await repeat(reported, connection, now, operationId)
    if (winner !== undefined) return winner
    const own = await store.load(operationId)
    if (own === undefined) throw new AppError('conflict', `Operation ${operationId} changed hands; try again`)
    return { operation: own, outcome: 'created' } as const
  }

  async function transition(operationId: string, reported: NewTransition, now: number): Promise<Operation> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const stored = await store.load(operationId)
      if (stored === undefined) throw new AppError('not_found', `There is no operation ${operationId}`)
      const outcome = applyTransition(stored, reported, now)
      if (outcome.kind === 'refused') throw refusedTransition(stored, reported.to, outcome.reason)
      if (outcome.kind === 'bad_time') throw refusedTime(outcome)
      if (outcome.kind === 'unchanged') return stored
      const { operation } = outcome
      await markIfExecuted(operation, now)
      const entry = outboxEntry(operation)
      if (await store.replace(operation, entry)) {
        await options.announce({ documentId: operation.operation_id, entries: [entry] })
        return operation
      }
    }
    throw new AppError('conflict', `Operation ${operationId} keeps changing; try again`, { retryable: true })
  }

  return {
    record,
    transition,
    get: operationId => store.load(operationId),
    list: filter => store.list(filter),
    byReferences: references => (references.length === 0 ? Promise.resolve([]) : store.byReferences(references)),
    hasExecuted: connectionIds =>
      connectionIds.length === 0 ? Promise.resolve(new Set()) : store.executedConnections(connectionIds),
  }
}

/** The message that tells this version of the operation; its id follows from both, so a repeat carries the same one. */
function outboxEntry(operation: Operation): OutboxEntry {
  return {
    id: `${operation.operation_id}:${operation.version}`,
    topic: 'operations',
    key: partitionKey(operation.project_id, operation.subject),
    message: operation,
  }
}
