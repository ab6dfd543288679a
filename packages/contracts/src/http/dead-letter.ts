import { z } from 'zod'
import { Timestamp } from '../operation.ts'

/** A dead-lettered message that belongs to no recorded delivery. */
export const DeadLetter = z.object({
  dead_letter_id: z.string(),
  topic: z.string().describe('The original topic; a replay sends the message there'),
  key: z.string(),
  bytes: z.int().describe('The size of its value, which is not shown'),
  reason_code: z.string(),
  reason: z.string().describe('Why it could not be used'),
  parked_at: Timestamp.describe('When it was last dead-lettered; a replay of it that fails changes this time'),
})
export type DeadLetter = z.infer<typeof DeadLetter>
