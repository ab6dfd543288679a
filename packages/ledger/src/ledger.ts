import {
  hasExecuted,
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
import { applyTransition, type OperationConnection, recordOperation, type TimeRefusal } from './domain/operation.ts'
import { describeRefusal } from './refusal.ts'

/** Operations as everyone uses them. All calls throw AppError `unavailable` when the store is away. */
export interface Ledger {
  /**
   * Records an operation in the state that is reported. Reporting again under the same idempotency key of the same
   * connection answers the operation that is stored, and changes nothing.
   * @param now milliseconds since the epoch
   * @param operationId for a caller who may repeat itself after a crash: the same id is stored once only
   * @throws AppError `idempotency_conflict` when the key was used for another operation; `invalid_request` when a time
   *   contradicts the state
   */
  record(
    reported: NewOperation,
    connection: OperationConnection,
    now: number,
    operationId?: string,
  ): Promise<{ operation: Operation; created: boolean }>
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
    if (hasExecuted(operation.state)) await store.markExecuted(operation, now)
  }

  async function known(reported: NewOperation, connection: OperationConnection): Promise<Operation | undefined> {
    if (reported.idempotency_key === undefined) return undefined
    const stored = await store.loadByIdempotencyKey(connection._id, reported.idempotency_key)
    if (stored === undefined) return undefined
    const agreement = compareReport(stored, reported)
    if (agreement.kind === 'agrees') return stored
    throw new AppError(
      'idempotency_conflict',
      `Operation ${stored.operation_id} was reported under this idempotency_key with another ${agreement.field}; ` +
        'report what became of it as a transition, or use another key',
    )
  }

  return {
    async record(reported, connection, now, operationId = newId('operation')) {
      const before = await known(reported, connection)
      if (before !== undefined) return { operation: before, created: false }
      const recorded = recordOperation(operationId, reported, connection, now)
      if (recorded.kind === 'refused') throw refusedTime(recorded.field, recorded.reason)
      const { operation } = recorded
      await markIfExecuted(operation, now)
      const entry = outboxEntry(operation)
      if (await store.insert(operation, entry)) {
        await options.announce({ documentId: operation.operation_id, entries: [entry] })
        return { operation, created: true }
      }
      // Somebody reported the same key at the same time, and won; or this is the caller's own repeat.
      const winner = (await known(reported, connection)) ?? (await store.load(operationId))
      if (winner === undefined) throw new AppError('conflict', `Operation ${operationId} changed hands; try again`)
      return { operation: winner, created: false }
    },

    async transition(operationId, transition, now) {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const stored = await store.load(operationId)
        if (stored === undefined) throw new AppError('not_found', `There is no operation ${operationId}`)
        const outcome = applyTransition(stored, transition, now)
        if (outcome.kind === 'refused') throw describeRefusal(stored, transition.to, outcome.reason)
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
    },

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

const TIME_REFUSALS: Record<TimeRefusal, string> = {
  state_has_not_executed: 'The reported state comes before executing, so it has no such time',
  state_has_not_ended: 'The reported state is no end state, so it has no such time',
  lies_in_the_future: 'The time lies more than 5 minutes ahead of our clock',
  ends_before_it_began: 'The operation cannot end before it began executing',
}

function refusedTime(field: string, reason: TimeRefusal): AppError {
  return new AppError('invalid_request', `${field}: ${TIME_REFUSALS[reason]}`, {
    details: { errors: [{ path: field, message: TIME_REFUSALS[reason] }] },
  })
}
