import { z } from 'zod'
import { Timestamp } from '../operation.ts'

/** Asks for the second look at what one subject holds. Subjects merge, so it names a reference, not the subject's id. */
export const Recheck = z.object({
  project_id: z.string(),
  /** Any reference of the subject. */
  ref: z.string(),
  /** The action, or the charge snapshot, to look at. */
  look_id: z.string(),
  /** When the look is due; absolute, so that a restart neither shortens nor resets the minute. */
  due_at: Timestamp,
})
export type Recheck = z.infer<typeof Recheck>
