import { z } from 'zod'
import { Timestamp } from '../actions/operation.ts'
import { SuppressionReason } from '../messages/command.ts'
import { IdFilter, ListQuery } from './list.ts'

/** The query of GET /v1/suppressions. */
export const SuppressionQuery = ListQuery.extend({ project_id: IdFilter.optional() })

/** The body of POST /v1/suppressions. */
export const NewSuppression = z.strictObject({ project_id: z.string(), address: z.email().max(254) })

/** An address that gets no more mail from a project. */
export const Suppression = z.object({
  project_id: z.string(),
  address: z.string(),
  reason: SuppressionReason,
  detail: z.string().nullable(),
  suppressed_at: Timestamp,
})
export type Suppression = z.infer<typeof Suppression>
