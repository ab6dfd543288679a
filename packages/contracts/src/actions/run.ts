import { z } from 'zod'
import { Timestamp } from './operation.ts'

/** A run of the customer's software (operations name it by `run_id`) that was reported as failed. */
export const FailedRun = z.object({
  run_id: z.string(),
  project_id: z.string(),
  reason: z.string().nullable(),
  failed_at: Timestamp,
  reported_at: Timestamp,
})
export type FailedRun = z.infer<typeof FailedRun>
