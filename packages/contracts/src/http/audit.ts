import { z } from 'zod'
import { Timestamp } from '../operation.ts'
import { ListQuery } from './list.ts'

/** A change made by the API, or the refusals of one actor in one minute with one error code. */
export const AuditEntry = z.object({
  audit_id: z.string(),
  at: Timestamp,
  key_id: z
    .string()
    .nullable()
    .describe(
      'The API key of the request; `recovery` for `backstop keys recover`; null if the key is missing or unknown',
    ),
  action: z.string().describe('For example alert_channel.create; for refusals `refused.` and the error code'),
  target: z.string().describe('Id of the changed resource; for refusals the first of `operations`'),
  project_id: z.string().nullable(),
  request_id: z
    .string()
    .nullable()
    .describe('The X-Request-Id of the answer, as in the log; null for `backstop keys recover`'),
  address: z.string().nullable().describe('The address of the client'),
  erased: z
    .object({ cases: z.int(), bodies: z.int() })
    .optional()
    .describe('`connection.erase`: the numbers of cases and raw bodies whose personal data was erased'),
  count: z.int().optional().describe('Refusals: the number of requests in this minute'),
  last_at: Timestamp.optional().describe('Refusals: the time of the last request'),
  operations: z
    .array(z.string())
    .optional()
    .describe(
      'Refusals: the operationIds of the requests, ten at most; the path for a wrong method, `none` for two Authorization headers',
    ),
  key_hint: z.string().nullable().optional().describe('Refusals: the first characters of an unknown key'),
})
export type AuditEntry = z.infer<typeof AuditEntry>

/** The query of GET /v1/audit. */
export const AuditQuery = ListQuery.extend({ project_id: z.string().optional(), target: z.string().optional() })
