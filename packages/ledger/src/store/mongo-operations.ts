import {
  type BudgetDocument,
  type BudgetPeriodDocument,
  type FirstExecutionDocument,
  isoTime,
  type Operation,
  type OperationDocument,
  type ProjectDocument,
  searchKeysOfOperation,
} from '@backstop/contracts'
import {
  asUnavailable,
  isDuplicateKey,
  LIST_WITHIN_MS,
  runListQuery,
  writeIgnoringDuplicates,
} from '@backstop/kit/mongo'
import type { ClientSession, Db, Filter, FindOptions } from 'mongodb'
import type { ChangePosition, OperationFilter, OperationStore, OperationWrite, WriteOutcome } from '../ledger.ts'
import { capAlertEntry } from '../rules/announcements.ts'
import { approvalPolicyOf, nextTimerAt } from '../rules/approval.ts'
import { applyMoves } from '../rules/budget.ts'
import { given, olderThan } from './list-filter.ts'
import { toAccount, toAccountDocument, toBudget } from './mongo-budgets.ts'
import { createOneAtATime } from './one-at-a-time.ts'

/** Selects operations that were sent to their provider and changed after this position, for a read in the order `updated_at, _id`. */
export function sentAndChangedAfter({ updated_at, operation_id }: ChangePosition): Filter<OperationDocument> {
  return {
    // The filter of the index.
    executing_at: { $type: 'string' },
    updated_at: { $gte: updated_at },
    $or: [{ updated_at: { $gt: updated_at } }, { _id: { $gt: operation_id } }],
  }
}

/** Fields that callers of the ledger do not get. */
export const INTERNAL_FIELDS = { search: 0, outbox: 0, outbox_at: 0, timer_at: 0 } as const

/** Number of remembered connections, to limit memory. */
const MAX_EXECUTED = 20_000

/** Operations in MongoDB: collections `operations`, `first_executions` and `budget_periods`. */
export function createMongoOperationStore(db: Db): OperationStore {
  const operations = db.collection<OperationDocument>('operations')
  const budgets = db.collection<BudgetDocument>('budgets')
  const projects = db.collection<ProjectDocument>('projects')
  const oneAtATime = createOneAtATime()
  const find = async (filter: Filter<OperationDocument>, options: FindOptions = {}) =>
    (await operations.find(filter, { ...options, projection: INTERNAL_FIELDS }).toArray()).map(toOperation)
  const findOne = (filter: Filter<OperationDocument>) =>
    asUnavailable(async () => {
      const found = await operations.findOne(filter, { projection: INTERNAL_FIELDS })
      return found === null ? undefined : toOperation(found)
    })

  return {
    write: write =>
      asUnavailable(() =>
        write.moves.length === 0
          ? writeWithoutBudgets(db, write)
          : // One after another: concurrent transactions on the budgets of one project only make each other fail.
            oneAtATime(write.operation.project_id, () => writeWithBudgets(db, write)),
      ),
    load: operationId => findOne({ _id: operationId }),
    loadByIdempotencyKey: (connectionId, key) => findOne({ connection_id: connectionId, idempotency_key: key }),
    byReferences: references => asUnavailable(() => find({ refs: { $in: [...references] } })),

    changedAfter: (position, before, limit) =>
      asUnavailable(() => {
        const filter = { $and: [sentAndChangedAfter(position), { updated_at: { $lt: isoTime(before) } }] }
        return find(filter, { sort: { updated_at: 1, _id: 1 }, limit })
      }),

    list: filter =>
      runListQuery(() => {
        const options = { sort: { created_at: -1, _id: -1 }, limit: filter.limit, maxTimeMS: LIST_WITHIN_MS } as const
        return find(toFilter(filter), options)
      }),

    dueApprovals: (now, limit) =>
      asUnavailable(async () => {
        const due = operations.find({ timer_at: { $lte: new Date(now) } }, { projection: { _id: 1 } })
        const found = await due.sort({ timer_at: 1 }).limit(limit).toArray()
        return found.map(({ _id }) => _id)
      }),

    approvalPolicy: projectId =>
      asUnavailable(async () => approvalPolicyOf(await projects.findOne({ _id: projectId }))),

    budgetsOf: projectId =>
      asUnavailable(async () => {
        const found = await budgets.find({ project_id: projectId, deleted_at: null }).toArray()
        return found.map(toBudget)
      }),

    ...createExecutions(db),
  }
}

/** The connections with an execution, collection `first_executions`. */
function createExecutions(db: Db): Pick<OperationStore, 'markExecuted' | 'executedConnections'> {
  const firstExecutions = db.collection<FirstExecutionDocument>('first_executions')
  /** Connections whose first execution is stored. Nothing removes it, so it need not be inserted again. */
  const executed = new Set<string>()
  return {
    async markExecuted({ connection_id: _id, project_id, operation_id }, now) {
      if (executed.has(_id)) return
      const first = { _id, project_id, operation_id, at: new Date(now) }
      await asUnavailable(() =>
        writeIgnoringDuplicates(() => firstExecutions.insertMany([first], { ordered: false }), 1),
      )
      if (executed.size >= MAX_EXECUTED) executed.clear()
      executed.add(_id)
    },
    executedConnections: connectionIds =>
      asUnavailable(async () => {
        const found = await firstExecutions
          .find({ _id: { $in: [...connectionIds] } }, { projection: { _id: 1 } })
          .toArray()
        return new Set(found.map(({ _id }) => _id))
      }),
  }
}

async function writeWithoutBudgets(db: Db, write: OperationWrite, session?: ClientSession): Promise<WriteOutcome> {
  const operations = db.collection<OperationDocument>('operations')
  const { operation, entries, now } = write
  const options = session === undefined ? {} : { session }
  const { _id, ...fields } = toDocument(operation)
  const timerAt = nextTimerAt(operation)
  const timer = timerAt === null ? {} : { timer_at: new Date(timerAt) }
  const at = new Date(now)
  if (operation.version === 1) {
    try {
      await operations.insertOne({ _id, ...fields, ...timer, outbox: [...entries], outbox_at: at }, options)
      return { kind: 'written', entries }
    } catch (error) {
      if (isDuplicateKey(error)) return { kind: 'taken' }
      throw error
    }
  }
  const { matchedCount } = await operations.updateOne(
    { _id, version: operation.version - 1 },
    {
      $set: { ...fields, ...timer },
      ...(timerAt === null ? { $unset: { timer_at: 1 } } : {}),
      $push: { outbox: { $each: [...entries] } },
      // $min, because a publisher may have emptied the outbox and removed outbox_at since the read.
      $min: { outbox_at: at },
    },
    options,
  )
  return matchedCount === 1 ? { kind: 'written', entries } : { kind: 'taken' }
}

/** Thrown to abort a transaction that ends in a refusal. The driver does not retry this error. */
class AbortedWrite extends Error {
  readonly outcome: WriteOutcome
  constructor(outcome: WriteOutcome) {
    super(outcome.kind)
    this.outcome = outcome
  }
}

/**
 * Stores the operation and its budget changes in one transaction. If an account is changed concurrently, the
 * transaction fails and runs again with the new amounts, so that two requests are never checked against the same sum.
 */
async function writeWithBudgets(db: Db, write: OperationWrite): Promise<WriteOutcome> {
  const accounts = db.collection<BudgetPeriodDocument>('budget_periods')
  const attempt = async (session: ClientSession): Promise<WriteOutcome> => {
    const ids = write.moves.map(({ accountId }) => accountId)
    const stored = await accounts.find({ _id: { $in: ids } }, { session }).toArray()
    const known = new Map(stored.map(document => [document._id, toAccount(document)]))
    const booking = applyMoves(write.moves, known)
    if (booking.kind === 'exceeded') throw new AbortedWrite(booking)
    for (const account of booking.accounts) {
      const { _id, ...fields } = toAccountDocument(account)
      if (known.has(_id)) await accounts.updateOne({ _id }, { $set: fields }, { session })
      else await accounts.insertOne({ _id, ...fields }, { session })
    }
    const alerts = booking.reached.map(reached => capAlertEntry(reached, write.operation, write.now))
    const outcome = await writeWithoutBudgets(db, { ...write, entries: [...write.entries, ...alerts] }, session)
    if (outcome.kind === 'taken') throw new AbortedWrite(outcome)
    return outcome
  }
  return db.client.withSession(async session => {
    for (;;) {
      try {
        return await session.withTransaction(attempt, { readConcern: { level: 'snapshot' } })
      } catch (error) {
        if (error instanceof AbortedWrite) return error.outcome
        // Another process created the account of a new period at the same time, so the transaction runs again.
        if (!isDuplicateKey(error)) throw error
      }
    }
  })
}

function toFilter(filter: OperationFilter): Filter<OperationDocument> {
  const { after, from, to } = filter
  return given({
    kind: filter.kind,
    provider_ref: filter.providerRef,
    currency: filter.currency,
    amount: rangeOf({ $gte: filter.minAmount, $lte: filter.maxAmount }),
    created_at: rangeOf({ $gte: from?.toISOString(), $lt: to?.toISOString() }),
    project_id: filter.projectId,
    connection_id: filter.connectionId,
    state: filter.state,
    subject: filter.subject,
    run_id: filter.runId,
    $or: after && olderThan('created_at', after.createdAt, after.operationId),
  })
}

function rangeOf(bounds: object): object | undefined {
  const range = given(bounds)
  return Object.keys(range).length === 0 ? undefined : range
}

type OperationFields = Omit<OperationDocument, 'outbox' | 'outbox_at' | 'timer_at'>

function toDocument(operation: Operation): OperationFields {
  const { operation_id, ...fields } = operation
  return { _id: operation_id, ...fields, search: searchKeysOfOperation(operation) }
}

function toOperation(document: OperationFields): Operation {
  const { _id, search: _keys, ...fields } = document
  return { operation_id: _id, ...fields }
}
