import {
  type BudgetDocument,
  type BudgetPeriodDocument,
  type FirstExecutionDocument,
  isoTime,
  type Operation,
  type OperationDocument,
  type OutboxEntry,
  type ProjectDocument,
  searchKeysOfOperation,
} from '@backstop/contracts'
import { joinItems } from '@backstop/kit/join-calls'
import {
  asUnavailable,
  equalText,
  isDuplicateKey,
  JOINT_RUNS,
  joinFinds,
  joinInserts,
  LIST_WITHIN_MS,
  runListQuery,
  writeIgnoringDuplicates,
} from '@backstop/kit/mongo'
import { createOneAtATime } from '@backstop/kit/one-at-a-time'
import type { ClientSession, Collection, Db, Filter, FindOptions, UpdateFilter } from 'mongodb'
import type {
  ChangePosition,
  OperationFilter,
  OperationStore,
  OperationWrite,
  WriteOutcome,
} from '../operation-store.ts'
import { capAlertEntry } from '../rules/announcements.ts'
import { approvalPolicyOf, nextTimerAt } from '../rules/approval.ts'
import { applyMoves } from '../rules/budget.ts'
import { given, olderThan } from './list-filter.ts'
import { toAccount, toAccountDocument, toBudget } from './mongo-budgets.ts'

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

/** The software's own name of an operation. */
interface ReportKey {
  readonly connectionId: string
  readonly key: string
}

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
  const writeJointly = createJointWrites(operations)
  const findProject = joinFinds(
    (ids: readonly string[]) => asUnavailable(() => projects.find({ _id: { $in: [...ids] } }).toArray()),
    ({ _id }) => _id,
  )
  const findReported = joinItems(async (wanted: readonly ReportKey[]) => {
    const byConnection = Map.groupBy(wanted, ({ connectionId }) => connectionId)
    const $or = Array.from(byConnection, ([connection_id, some]) => ({
      connection_id,
      idempotency_key: { $in: some.map(({ key }) => key), $type: 'string' } as const,
    }))
    const found = await asUnavailable(() => find({ $or }))
    const byName = new Map(found.map(stored => [`${stored.connection_id}/${stored.idempotency_key}`, stored]))
    return wanted.map(({ connectionId, key }) => byName.get(`${connectionId}/${key}`))
  }, JOINT_RUNS)

  return {
    async write(write) {
      if (write.moves.length === 0) {
        return (await writeJointly(write)) ? { kind: 'written', entries: write.entries } : { kind: 'taken' }
      }
      // One after another: concurrent transactions on the budgets of one project only make each other fail.
      return asUnavailable(() => oneAtATime(write.operation.project_id, () => writeWithBudgets(db, write)))
    },
    load: joinFinds(
      (ids: readonly string[]) => asUnavailable(() => find({ _id: { $in: [...ids] } })),
      ({ operation_id }) => operation_id,
    ),
    // MongoDB replaces lone surrogates.
    loadByIdempotencyKey: (connectionId, key) => findReported({ connectionId, key: key.toWellFormed() }),
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

    approvalPolicy: async projectId => approvalPolicyOf(await findProject(projectId)),

    budgetsOf: joinItems(async (ids: readonly string[]) => {
      const wanted = { project_id: { $in: [...new Set(ids)] }, deleted_at: null }
      const found = await asUnavailable(() => budgets.find(wanted).toArray())
      const byProject = Map.groupBy(found.map(toBudget), ({ project_id }) => project_id)
      return ids.map(id => byProject.get(id) ?? [])
    }, JOINT_RUNS),

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

/** Writes operations that change no budget. Concurrent writes share one command for new operations and one for changes. */
function createJointWrites(operations: Collection<OperationDocument>): (write: OperationWrite) => Promise<boolean> {
  const insert = joinInserts(operations)
  const change = joinItems((writes: readonly OperationWrite[]) => changeVersions(operations, writes), JOINT_RUNS)
  return write => (write.operation.version === 1 ? insert(toNewDocument(write)) : change(write))
}

/**
 * Stores the next versions of operations. Of several writes about one operation, the first is made.
 * @returns whether each write was made
 */
async function changeVersions(
  operations: Collection<OperationDocument>,
  writes: readonly OperationWrite[],
): Promise<boolean[]> {
  const firsts = new Map(writes.toReversed().map(write => [write.operation.operation_id, write]))
  const changes = [...firsts.values()].map(write => ({ updateOne: toVersionChange(write) }))
  const { matchedCount } = await asUnavailable(() => operations.bulkWrite(changes, { ordered: false }))
  const made = matchedCount === changes.length ? firsts : await readMade(operations, firsts)
  return writes.map(write => made.get(write.operation.operation_id) === write)
}

type WritesById = ReadonlyMap<string, OperationWrite>

/**
 * Reads which of several versions were stored, because MongoDB only says how many. A version that another process wrote at the same time
 * differs in its state or its time, or is the same. The message of a version stays in the outbox until its writer knows that it was stored,
 * also if another process has stored the next version.
 */
async function readMade(operations: Collection<OperationDocument>, writes: WritesById): Promise<WritesById> {
  if (writes.size === 1) return new Map()
  const stored = await asUnavailable(() =>
    operations.find({ _id: { $in: [...writes.keys()] } }, { projection: { outbox: 1 } }).toArray(),
  )
  const made = stored.flatMap(({ _id, outbox }) => {
    const write = writes.get(_id)
    return write !== undefined && hasMessageOf(outbox, write.operation) ? [[_id, write] as const] : []
  })
  return new Map(made)
}

function hasMessageOf(outbox: readonly OutboxEntry[], { version, state, updated_at }: Operation): boolean {
  return outbox.some(({ topic, message }) => {
    const stored = message as Operation
    return (
      topic === 'operations' && stored.version === version && stored.state === state && stored.updated_at === updated_at
    )
  })
}

async function writeInTransaction(
  operations: Collection<OperationDocument>,
  write: OperationWrite,
  session: ClientSession,
): Promise<boolean> {
  try {
    if (write.operation.version === 1) {
      await operations.insertOne(toNewDocument(write), { session })
      return true
    }
    const { filter, update } = toVersionChange(write)
    return (await operations.updateOne(filter, update, { session })).matchedCount === 1
  } catch (error) {
    if (isDuplicateKey(error)) return false
    throw error
  }
}

function toNewDocument({ operation, entries, now }: OperationWrite): OperationDocument {
  const timerAt = nextTimerAt(operation)
  const timer = timerAt === null ? {} : { timer_at: new Date(timerAt) }
  return { ...toDocument(operation), ...timer, outbox: [...entries], outbox_at: new Date(now) }
}

function toVersionChange({ operation, entries, now }: OperationWrite) {
  const { _id, ...fields } = toDocument(operation)
  const timerAt = nextTimerAt(operation)
  const filter: Filter<OperationDocument> = { _id, version: operation.version - 1 }
  const update: UpdateFilter<OperationDocument> = {
    $set: timerAt === null ? fields : { ...fields, timer_at: new Date(timerAt) },
    ...(timerAt === null ? { $unset: { timer_at: 1 } } : {}),
    $push: { outbox: { $each: [...entries] } },
    // $min, because a publisher may have emptied the outbox and removed outbox_at since the read.
    $min: { outbox_at: new Date(now) },
  }
  return { filter, update }
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
    const entries = [...write.entries, ...alerts]
    const isMade = await writeInTransaction(db.collection('operations'), { ...write, entries }, session)
    if (!isMade) throw new AbortedWrite({ kind: 'taken' })
    return { kind: 'written', entries }
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
    provider_ref: filter.providerRef && equalText(filter.providerRef),
    currency: filter.currency,
    amount: rangeOf({ $gte: filter.minAmount, $lte: filter.maxAmount }),
    created_at: rangeOf({ $gte: from?.toISOString(), $lt: to?.toISOString() }),
    project_id: filter.projectId,
    connection_id: filter.connectionId,
    state: filter.state,
    subject: filter.subject,
    run_id: filter.runId && equalText(filter.runId),
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
