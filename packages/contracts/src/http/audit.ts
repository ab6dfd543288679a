import { z } from 'zod'
import { Timestamp } from '../operation.ts'
import { ListQuery, TimeFilter } from './list.ts'

/** A change made by the API, one refusal, or the refusals of one actor in one minute with one error code. */
export const AuditEntry = z.object({
  audit_id: z.string(),
  at: Timestamp,
  key_id: z
    .string()
    .nullable()
    .describe(
      'The API key of the request; `recovery` for `backstop keys recover`; null if the key is missing or unknown',
    ),
  actor: z
    .object({ kind: z.enum(['key', 'person']), id: z.string(), name: z.string().nullable() })
    .nullable()
    .optional()
    .describe('The key or person of the request; null if it is unknown'),
  session_id: z.string().nullable().optional().describe('The session of the request; null if it was made with a key'),
  action: z.string().describe('For example alert_channel.create; for refusals `refused.` and the error code'),
  target: z.string().describe('Id of the changed resource; for refusals the first of `operations`'),
  project_id: z.string().nullable(),
  request_id: z
    .string()
    .nullable()
    .describe('The X-Request-Id of the answer, as in the log; null for `backstop keys recover`'),
  address: z.string().nullable().describe('The address of the client'),
  sequence: z.int().optional().describe('The place in the hash chain; absent in the first minutes'),
  previous_hash: z.string().optional(),
  hash: z.string().optional().describe('SHA-256 of `previous_hash` and this row'),
  changes: z
    .array(z.object({ resource: z.string(), field: z.string(), from: z.unknown(), to: z.unknown() }))
    .optional()
    .describe('The changed fields with their old and new values; of secrets only fingerprints'),
  erased: z
    .object({ cases: z.int(), bodies: z.int() })
    .optional()
    .describe('`connection.erase`: the numbers of cases and raw bodies whose personal data was erased'),
  count: z.int().optional().describe('Refusals: the number of refused requests that the row stands for'),
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
export const AuditQuery = ListQuery.extend({
  project_id: z.string().optional(),
  target: z.string().optional(),
  key_id: z.string().optional(),
  action: z.string().optional().describe('For example alert_channel.create'),
  from: TimeFilter.optional().describe('Only rows of this time or later'),
  to: TimeFilter.optional().describe('Only rows before this time'),
})

/** The query of GET /v1/audit/verify. */
export const AuditVerifyQuery = z.object({
  from_sequence: z.coerce
    .number()
    .int()
    .min(1)
    .optional()
    .describe('`next_sequence` of the previous answer; the newest row if omitted'),
})

/** The answer to GET /v1/audit/verify. */
export const AuditVerification = z.object({
  state: z.enum(['intact', 'broken']),
  head: z
    .object({ sequence: z.int(), hash: z.string() })
    .nullable()
    .describe('The newest row of the chain. Keep it elsewhere, and compare it with the row later'),
  verified: z.int().describe('The number of rows that were verified'),
  first_sequence: z.int().nullable().describe('The oldest verified row'),
  broken: z
    .object({ sequence: z.int(), reason: z.enum(['row_missing', 'row_changed', 'link_broken']) })
    .nullable()
    .describe('The newest broken row'),
  next_sequence: z.int().nullable().describe('Where to continue; null at the end of the chain'),
})
export type AuditVerification = z.infer<typeof AuditVerification>
