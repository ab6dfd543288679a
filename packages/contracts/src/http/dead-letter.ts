import { z } from 'zod'
import { Timestamp } from '../actions/operation.ts'
import { IdFilter, ListQuery, TimeFilter } from './list.ts'

/**
 * What could not be used. notification: of a provider. provider_object: an object in a provider's answer. delivery: of an alert to a
 * channel. The others are messages between services; unknown: its topic is unknown.
 */
export const DeadLetterKind = z.enum([
  'notification',
  'provider_object',
  'operation',
  'recheck',
  'reread',
  'readback',
  'command',
  'incident',
  'alert',
  'delivery',
  'unknown',
])
export type DeadLetterKind = z.infer<typeof DeadLetterKind>

const filters = {
  project_id: IdFilter.optional(),
  kind: DeadLetterKind.optional(),
  from: TimeFilter.optional().describe('Only dead letters of this time or later'),
  to: TimeFilter.optional().describe('Only dead letters before this time'),
}

/** The query of GET /v1/dead-letters. */
export const DeadLetterQuery = ListQuery.extend(filters)

/** The body of POST /v1/dead-letters/replay and POST /v1/dead-letters/dismiss. */
export const SelectDeadLetters = z.strictObject({
  ...filters,
  cursor: ListQuery.shape.cursor.describe('`next_cursor` of the previous answer, to continue'),
})

/** A notification, delivery or message that could not be used. */
export const DeadLetter = z.object({
  dead_letter_id: z.string().describe('For a notification its inbox_id, for a delivery its delivery_id'),
  kind: DeadLetterKind,
  project_id: z.string().nullable().describe('Null if the message cannot be read'),
  topic: z.string().describe('The original topic'),
  key: z.string().nullable().describe('The key of a message; null for notifications and deliveries'),
  bytes: z
    .int()
    .nullable()
    .describe('The size of the value of a message, which is not shown; null for notifications and deliveries'),
  reason_code: z.string().nullable(),
  reason: z.string().describe('Why it could not be used'),
  parked_at: Timestamp.describe('When it was last dead-lettered; a failed replay updates this time'),
  resource: z.string().nullable().describe('The path of the inbox entry, delivery or operation; null if there is none'),
  repair: z
    .object({ method: z.literal('POST'), path: z.string() })
    .nullable()
    .describe('The call that sends it again after its cause was removed; null if it cannot be sent again'),
  repair_blocked_by: z.string().nullable().describe('Why it cannot be sent again; null if it can'),
  dismiss: z
    .object({ method: z.literal('POST'), path: z.string() })
    .nullable()
    .describe('The call that removes it from the list without sending it; null for notifications and deliveries'),
})
export type DeadLetter = z.infer<typeof DeadLetter>

const next_cursor = z
  .string()
  .nullable()
  .describe('Send it as `cursor` to continue; null if every dead letter was tried')

/** The answer of POST /v1/dead-letters/dismiss. */
export const DismissedDeadLetters = z.object({
  dismissed: z.int().describe('Dead letters that leave the list and are never sent'),
  blocked: z
    .array(z.object({ dead_letter_id: z.string(), reason: z.string() }))
    .describe('Dead letters that cannot be dismissed'),
  next_cursor,
})

/** The answer of POST /v1/dead-letters/replay. */
export const ReplayedDeadLetters = z.object({
  replayed: z.int().describe('Dead letters that are sent again'),
  blocked: z
    .array(z.object({ dead_letter_id: z.string(), reason: z.string() }))
    .describe('Dead letters that cannot be sent again'),
  next_cursor,
})
