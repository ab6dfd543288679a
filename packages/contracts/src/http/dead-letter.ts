import { z } from 'zod'
import { Timestamp } from '../operation.ts'

/** A message that the notifier could not use, and that is no delivery: those are in the list of deliveries. */
export const DeadLetter = z.object({
  dead_letter_id: z.string(),
  topic: z.string().describe('Where it lay first, and where it goes again'),
  key: z.string(),
  bytes: z.int().describe('Its size; what is in it is not shown'),
  reason_code: z.string(),
  reason: z.string().describe('Why it could not be used'),
  parked_at: Timestamp.describe(
    'When it was parked last: later than it was sent again where it could not be used once more',
  ),
})
export type DeadLetter = z.infer<typeof DeadLetter>
