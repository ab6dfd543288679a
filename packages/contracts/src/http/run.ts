import { z } from 'zod'
import { ShownOperation } from '../actions/operation.ts'
import { FailedRun } from '../actions/run.ts'
import { IdFilter, ListQuery } from './list.ts'

/** The body of POST /v1/runs/{id}/failed. Operations name their run by `run_id`. */
export const RunFailure = z.strictObject({
  project_id: z
    .string()
    .optional()
    .describe('Default: the project of the key, or else the only project whose operations name the run'),
  reason: z.string().max(2000).nullable().optional().describe('For people: what went wrong'),
  failed_at: z.iso
    .datetime({ offset: true })
    .nullable()
    .optional()
    .describe('When the run failed; default: the time of this report'),
})
export type RunFailure = z.infer<typeof RunFailure>

/** A run with the newest of its operations. */
export const RunWithOperations = z.object({
  run_id: z.string(),
  project_id: z.string(),
  failure: FailedRun.nullable().describe('Null if the run was not reported as failed'),
  operations: z.array(ShownOperation).describe('The newest 100; GET /v1/operations?run_id=… lists all'),
})
export type RunWithOperations = z.infer<typeof RunWithOperations>

/** The query of GET /v1/runs. */
export const RunQuery = ListQuery.extend({ project_id: IdFilter.optional() })
/** The query of GET /v1/runs/{id}. */
export const RunDetailQuery = z.object({
  project_id: IdFilter.optional().describe('Needed if several projects use the same run_id'),
})
