import { z } from 'zod'
import { Action, Verdict } from '../verdict.ts'
import { ListQuery } from './list.ts'

export const ActionQuery = ListQuery.extend({
  connection_id: z.string().optional(),
  project_id: z.string().optional(),
  verdict: Verdict.optional(),
})

/** An action as the API shows it. */
export const ShownAction = Action.extend({
  merged_into: z
    .string()
    .optional()
    .describe('The action that it turned out to be, which alone goes on; lists leave it out'),
})
export type ShownAction = z.infer<typeof ShownAction>
