import {
  type BudgetDocument,
  type FirstExecutionDocument,
  isoTime,
  type Operation,
  type OperationDocument,
  type OutboxEntry,
  type ProjectDocument,
} from '@backstop/contracts'
import { joinItems } from '@backstop/kit/join-calls'
import {
  asUnavailable,
  equalText,
  JOINT_RUNS,
  joinFinds,
  joinInserts,
  LIST_WITHIN_MS,
  ONE_ANSWER,
  runListQuery,
  writeIgnoringDuplicates,
} from '@backstop/kit/mongo'
import { createOneAtATime } from '@backstop/kit/one-at-a-time'
import type { Collection, Db, Filter, FindOptions } from 'mongodb'
import type { ChangePosition, OperationFilter, OperationStore, OperationWrite } from '../operation-store.ts'
import { approvalPolicyOf } from '../rules/approval.ts'
import { given, olderThan } from './list-filter.ts'
import { toBudget } from './mongo-budgets.ts'
import { toNewDocument, toOperation, toVersionChange } from './operation-document.ts'
import { writeWithBudgets } from './write-with-budgets.ts'

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
    (await operations.find(filter, { ...ONE_ANSWER, ...options, projection: INTERNAL_FIELDS }).toArray()).map(
      toOperation,
    )
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
