import { z } from 'zod'
import { Timestamp } from '../operation.ts'

/** A dead-lettered message that belongs to no recorded delivery. */
export const DeadLetter = z.object({
  dead_letter_id: z.string(),
  topic: z.string().describe('The original topic; a replay sends the message there'),
  key: z.string(),
  bytes: z.int().describe('The size of the value, which is not shown'),
  reason_code: z.string(),
  reason: z.string().describe('Why the message could not be used'),
  parked_at: Timestamp.describe('When the message was last dead-lettered; a failed replay updates this time'),
})
export type DeadLetter = z.infer<typeof DeadLetter>
