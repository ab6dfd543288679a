import { z } from 'zod'
import { Timestamp } from '../operation.ts'
import { ListQuery } from './list.ts'

/** One change that somebody made by the API, or the refusals of one actor in one minute with one error code. */
export const AuditEntry = z.object({
  audit_id: z.string(),
  at: Timestamp,
  key_id: z
    .string()
    .nullable()
    .describe(
      'The API key that asked; `recovery` for `backstop keys recover`; null where none is needed, or none is known',
    ),
  action: z
    .string()
    .describe('What was done to what: alert_channel.create, for one; for refusals `refused.` and the error code'),
  target: z.string().describe('Id of what it was done to; for refusals what was asked for first, as in `operations`'),
  project_id: z.string().nullable(),
  request_id: z
    .string()
    .nullable()
    .describe('As in x-request-id of the answer, and in the log; null for `backstop keys recover`'),
  address: z.string().nullable().describe('Where the request came from'),
  count: z.int().optional().describe('Refusals: how many in this minute'),
  last_at: Timestamp.optional().describe('Refusals: when the last of them was'),
  operations: z
    .array(z.string())
    .optional()
    .describe(
      'Refusals: the operationIds that were asked for, ten at most; the path where the method was wrong, `none` where two Authorization headers came',
    ),
  key_hint: z.string().nullable().optional().describe('Refusals: the beginning of a key that is not known'),
})
export type AuditEntry = z.infer<typeof AuditEntry>

export const AuditQuery = ListQuery.extend({ project_id: z.string().optional(), target: z.string().optional() })
