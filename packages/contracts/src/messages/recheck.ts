import { z } from 'zod'
import { Timestamp } from '../actions/operation.ts'

/** The request for a second look at an action of a case. It names a reference, because cases merge and their ids change. */
export const Recheck = z.object({
  project_id: z.string(),
  /** Any reference of the case. */
  ref: z.string(),
  /** The id of the action, or of the charge snapshot, to look at. */
  look_id: z.string(),
  /** When the second look is due. An absolute time, so that a restart does not change it. */
  due_at: Timestamp,
})
export type Recheck = z.infer<typeof Recheck>
