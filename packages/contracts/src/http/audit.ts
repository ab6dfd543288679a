import { z } from 'zod'
import { Timestamp } from '../operation.ts'
import { ListQuery } from './list.ts'

/** One change that somebody made by the API. */
export const AuditEntry = z.object({
  audit_id: z.string(),
  at: Timestamp,
  key_id: z.string().nullable().describe('The API key that it was made with; null where none is needed'),
  action: z.string().describe('What was done to what: alert_channel.create, for one'),
  target: z.string().describe('Id of what it was done to'),
  project_id: z.string().nullable(),
  request_id: z.string().describe('As in x-request-id of the answer, and in the log'),
  address: z.string().nullable().describe('Where the request came from'),
})
export type AuditEntry = z.infer<typeof AuditEntry>

export const AuditQuery = ListQuery.extend({ project_id: z.string().optional(), target: z.string().optional() })
