import type { FailedRun, FailedRunDocument, Operation, OperationDocument } from '@backstop/contracts'
import { asUnavailable, equalText, LIST_WITHIN_MS, runListQuery, writeIgnoringDuplicates } from '@backstop/kit/mongo'
import type { Db } from 'mongodb'
import type { RunStore } from '../runs.ts'
import { given, olderThan } from './list-filter.ts'
import { INTERNAL_FIELDS } from './mongo-operations.ts'

/** The limit of queries that callers of the API choose. */
const WITHIN = { maxTimeMS: LIST_WITHIN_MS }

/** Failed runs in MongoDB: collection `failed_runs`. It also reads the operations of a run. */
export function createMongoRunStore(db: Db): RunStore {
  const runs = db.collection<FailedRunDocument>('failed_runs')
  const operations = db.collection<OperationDocument>('operations')
  return {
    insert: (id, run, entry) =>
      asUnavailable(async () => {
        const document: FailedRunDocument = {
          _id: id,
          ...run,
          failed_at: new Date(run.failed_at),
          reported_at: new Date(run.reported_at),
          outbox: [{ ...entry, at: Date.parse(run.reported_at) }],
        }
        const taken = await writeIgnoringDuplicates(() => runs.insertMany([document], { ordered: false }), 1)
        return taken.length === 0
      }),
    load: id =>
      asUnavailable(async () => {
        const found = await runs.findOne({ _id: id })
        return found === null ? undefined : toRun(found)
      }),
    list: ({ projectId, after, limit }) =>
      runListQuery(async () => {
        const where = given({
          project_id: projectId,
          $or: after && olderThan('reported_at', after.at, after.id),
        })
        const found = await runs.find(where, WITHIN).sort({ reported_at: -1, _id: -1 }).limit(limit).toArray()
        return found.map(toRun)
      }),
    projectsOf: runId =>
      runListQuery(async () => {
        const [named, failed] = await Promise.all([
          operations.distinct('project_id', { run_id: equalText(runId) }, WITHIN),
          runs.distinct('project_id', { run_id: runId }, WITHIN),
        ])
        return [...new Set([...named, ...failed])]
      }),
    operationsOf: ({ projectId, runId }, limit) =>
      asUnavailable(async () => {
        const where = { run_id: equalText(runId), project_id: projectId }
        const newest = operations
          .find(where, { projection: INTERNAL_FIELDS })
          .sort({ created_at: -1, _id: -1 })
          .limit(limit)
        const [found, total] = await Promise.all([newest.toArray(), operations.countDocuments(where)])
        return { newest: found.map(({ _id, ...fields }): Operation => ({ operation_id: _id, ...fields })), total }
      }),
  }
}

function toRun({ _id, outbox: _outbox, failed_at, reported_at, ...fields }: FailedRunDocument): FailedRun {
  return { ...fields, failed_at: failed_at.toISOString(), reported_at: reported_at.toISOString() }
}
