import {
  FailedRun,
  ProjectListQuery,
  RunDetailQuery,
  RunFailure,
  RunWithOperations,
  showOperation,
} from '@backstop/contracts'
import { runDocumentId } from '@backstop/ledger'
import { z } from 'zod'
import type { Principal } from '../../access/rules/access.ts'
import { listChangedFields } from '../../http/changed-fields.ts'
import { findProject, notFound, projectFilterOf } from '../../http/find-resource.ts'
import { itemRoute, pagedRoute } from '../../http/read-routes.ts'
import { refusedField } from '../../http/refused-field.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'

const tag = 'Runs'
const RunParams = z.object({ id: z.string().min(1).max(255).describe('The run_id that its operations name') })
const MAX_OPERATIONS = 100

/** /v1/runs */
export function runRoutes(parts: AdminParts): Route[] {
  return [
    failRoute(parts),
    pagedRoute({
      path: '/v1/runs',
      operationId: 'listRuns',
      tag,
      summary: 'List failed runs, newest first',
      description: 'The operations of a run: GET /v1/operations?run_id=',
      items: 'failed runs',
      query: ProjectListQuery,
      schema: FailedRun,
      page: ({ query, principal }, place) =>
        parts.runs.list({ projectId: projectFilterOf(principal, query.project_id).project_id, ...place }),
      placeOf: ({ project_id, run_id, reported_at }) => ({
        at: new Date(reported_at),
        id: runDocumentId({ projectId: project_id, runId: run_id }),
      }),
      show: run => run,
    }),
    itemRoute({
      path: '/v1/runs/{id}',
      operationId: 'getRun',
      tag,
      summary: 'Get a run with its operations',
      params: RunParams,
      query: RunDetailQuery,
      item: 'run',
      schema: RunWithOperations,
      find: ({ params, query, principal }) => findRun(parts, principal, params.id, query.project_id),
      show: run => run,
    }),
  ]
}

function failRoute(parts: AdminParts): Route {
  return defineRoute({
    method: 'post',
    path: '/v1/runs/{id}/failed',
    operationId: 'failRun',
    tag,
    summary: 'Report that a run of your software failed',
    description:
      'Sends the alert `run.failed` once, with the operations of the run. A repeated report answers the stored failure.',
    scope: 'operations:write',
    params: RunParams,
    body: RunFailure,
    answers: { 200: { description: 'The failed run', schema: FailedRun } },
    async handle({ params, body, principal, now }) {
      const projectId = await projectOf(parts, principal, params.id, body.project_id)
      if (projectId === undefined) {
        throw refusedField('body.project_id', 'Give project_id: operations in no project, or in several, name this run')
      }
      const { run, outcome } = await parts.runs.fail({ projectId, runId: params.id }, body, now.getTime())
      const { run_id: target } = run
      const changed = { action: 'run.fail', target, projectId, changes: listChangedFields(target, undefined, run) }
      return { status: 200, body: run, ...(outcome === 'unchanged' ? {} : { changed }) }
    },
  })
}

async function findRun(
  parts: AdminParts,
  principal: Principal,
  runId: string,
  asked: string | undefined,
): Promise<RunWithOperations> {
  const projectId = await projectOf(parts, principal, runId, asked)
  if (projectId === undefined) throw notFound('run', runId)
  const [failure, operations] = await Promise.all([
    parts.runs.get({ projectId, runId }),
    parts.ledger.list({ projectId, runId, limit: MAX_OPERATIONS }),
  ])
  if (failure === undefined && operations.length === 0) throw notFound('run', runId)
  return { run_id: runId, project_id: projectId, failure: failure ?? null, operations: operations.map(showOperation) }
}

/** The project of a run: the project in the query or of the key, or else the only project with operations of this run. */
async function projectOf(
  { stores, runs }: AdminParts,
  principal: Principal,
  runId: string,
  asked: string | undefined,
): Promise<string | undefined> {
  const { project_id: named } = projectFilterOf(principal, asked)
  if (named !== undefined) return (await findProject(stores, principal, named))._id
  const [only, ...others] = await runs.projectsOf(runId)
  return others.length === 0 ? only : undefined
}
