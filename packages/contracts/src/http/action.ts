import { z } from 'zod'
import { Action, Verdict } from '../verdict.ts'
import { ListQuery } from './list.ts'

/** The query of GET /v1/actions. */
export const ActionQuery = ListQuery.extend({
  connection_id: z.string().optional(),
  project_id: z.string().optional(),
  verdict: Verdict.optional(),
})

/** An action as the API answers it. */
export const ShownAction = Action.extend({
  merged_into: z.string().optional().describe('The action that this action was merged into; lists omit merged actions'),
})
export type ShownAction = z.infer<typeof ShownAction>
