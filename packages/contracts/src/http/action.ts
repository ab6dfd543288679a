import { z } from 'zod'
import { Verdict } from '../verdict.ts'
import { ListQuery } from './list.ts'

export const ActionQuery = ListQuery.extend({
  connection_id: z.string().optional(),
  project_id: z.string().optional(),
  verdict: Verdict.optional(),
})
