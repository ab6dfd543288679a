import { z } from 'zod'
import { Timestamp } from '../actions/operation.ts'
import { IdFilter, ListQuery, TimeFilter } from './list.ts'

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
    .object({ kind: z.enum(['key', 'person', 'mail_link']), id: z.string(), name: z.string().nullable() })
    .nullable()
    .optional()
    .describe(
      'The key or person of the request, or the unsubscribe link of a mail (its `id` is a hash of the address); null if it is unknown',
    ),
  session_id: z.string().nullable().optional().describe('The session of the request; null if it was made with a key'),
  action: z.string().describe('For example alert_channel.create; for refusals `refused.` and the error code'),
  target: z.string().describe('Id of the changed resource; for refusals the first of `operations`'),
  project_id: z.string().nullable(),
  request_id: z
    .string()
    .nullable()
    .describe('The X-Request-Id of the answer, as in the log; null for `backstop keys recover`'),
  address: z.string().nullable().describe('The address of the client'),
  sequence: z.int().optional().describe('The place in the hash chain; absent in the first seconds'),
  previous_hash: z.string().optional(),
  previous_at: Timestamp.nullable().optional().describe('The time of the previous row of the chain'),
  chained_at: Timestamp.optional().describe('When the row joined the chain'),
  hash: z.string().optional().describe('SHA-256 of `previous_hash` and this row'),
  mac: z
    .string()
    .optional()
    .describe('The id of a key of SECRET_KEYS, and the MAC of this row by it; absent in rows of before the update'),
  unsigned: z.boolean().optional().describe('True if the row was written by something that does not have SECRET_KEYS'),
  changes: z
    .array(z.object({ resource: z.string(), field: z.string(), from: z.unknown(), to: z.unknown() }))
    .optional()
    .describe('The changed fields with their old and new values; of secrets only fingerprints'),
  erased: z
    .object({ cases: z.int(), bodies: z.int(), actions: z.int().optional(), deliveries: z.int().optional() })
    .optional()
    .describe(
      '`connection.erase`, `person_erasure.finish`: the numbers of records whose personal data was erased; actions and deliveries only for a person',
    ),
  count: z.int().optional().describe('Refusals: the number of refused requests that the row stands for'),
  last_at: Timestamp.optional().describe('Refusals: the time of the last request'),
  operations: z
    .array(z.string())
    .optional()
    .describe(
      'Refusals: the operationIds of the requests, ten at most; the path for a wrong method, `none` for two Authorization headers',
    ),
  key_hint: z.string().nullable().optional().describe('Refusals: the first characters of an unknown key'),
  unreadable: z
    .literal(true)
    .optional()
    .describe(
      'The stored row does not have the form of a row of the audit: somebody wrote it into the database. Only `audit_id` and `at` are those of the row',
    ),
  operator: z
    .string()
    .optional()
    .describe('`api_key.recover`: who ran the command, by `--operator` or user and machine'),
})
export type AuditEntry = z.infer<typeof AuditEntry>

/** The query of GET /v1/audit. */
export const AuditQuery = ListQuery.extend({
  project_id: IdFilter.optional(),
  target: IdFilter.optional(),
  key_id: IdFilter.optional(),
  action: IdFilter.optional().describe('For example alert_channel.create'),
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
  head: z
    .string()
    .regex(/^\d{1,15}:[0-9a-f]{64}$/, 'Give the sequence and the hash of a row, as in 5120:9f86…')
    .optional()
    .describe('A head that was kept elsewhere, `<sequence>:<hash>`: that row must still have this hash'),
})

/** What is wrong with a row of the audit or with its chain. */
export const AuditFaultReason = z.enum([
  /** The row is not there, and is too young to have expired. */
  'row_missing',
  /** Its fields do not fit its hash. */
  'row_changed',
  /** The row above states another hash of it. */
  'link_broken',
  /** It has no MAC, although rows above and below have one. */
  'mac_missing',
  /** It was computed without SECRET_KEYS. */
  'mac_wrong',
  /** It joined the chain as written by something that does not have SECRET_KEYS. */
  'row_unsigned',
  /** It is no part of the chain. */
  'row_outside',
  /** The chain was found broken at that time, and continues with this row. */
  'chain_broken',
  'head_missing',
  'head_changed',
  /** The chain has been longer. */
  'head_set_back',
  /** The row has not the hash of the given head. */
  'head_differs',
  /** SECRET_KEYS does not have the key of the head. */
  'key_unknown',
])
export type AuditFaultReason = z.infer<typeof AuditFaultReason>

export const AuditFault = z.object({
  reason: AuditFaultReason,
  sequence: z.int().nullable().describe('The row; null if it has no place in the chain'),
  audit_id: z.string().nullable().describe('The row; null if it is missing'),
  text: z.string().describe('What was found, in one sentence for people to read'),
})
export type AuditFault = z.infer<typeof AuditFault>

/** The answer to GET /v1/audit/verify. */
export const AuditVerification = z.object({
  state: z.enum(['intact', 'broken']),
  head: z
    .object({ sequence: z.int(), hash: z.string() })
    .nullable()
    .describe('The newest row of the chain. Keep it elsewhere, and give it as `head` later'),
  verified: z.int().describe('The number of rows that were verified'),
  first_sequence: z.int().nullable().describe('The oldest verified row'),
  broken: AuditFault.nullable().describe('The first of `faults`'),
  faults: z.array(AuditFault).describe('What is wrong, newest row first; twenty at most'),
  hashed_until: z
    .int()
    .nullable()
    .describe('Rows up to this one are only hashed, because they are older than the update; null if there are none'),
  unsigned: z
    .int()
    .describe(
      'The number of verified rows that were written without SECRET_KEYS: by `keys recover`, or during the update',
    ),
  next_sequence: z.int().nullable().describe('Where to continue; null at the end of the chain'),
})
export type AuditVerification = z.infer<typeof AuditVerification>

/** The last line of GET /v1/audit/export: what the service states about the lines before, and its signature. */
export const AuditExportEnd = z.object({
  statement: z.object({
    exported_at: Timestamp,
    rows: z.int().describe('The number of lines before'),
    first_sequence: z.int().nullable(),
    last_sequence: z.int(),
    last_hash: z.string(),
    hashed_until: z.int().nullable(),
    sha256: z.string().describe('SHA-256 of the lines before, in hex'),
    faults: z.array(AuditFault).describe('What the service found wrong while it exported; twenty at most'),
  }),
  key_id: z.string().describe('The key of SECRET_KEYS that the key pair is derived from'),
  signature: z.string().describe('Ed25519 over the JSON of `statement` with sorted keys, in base64url'),
})
export type AuditExportEnd = z.infer<typeof AuditExportEnd>

/** The answer to GET /v1/audit/public-keys. */
export const AuditPublicKeys = z.object({
  keys: z.array(
    z.object({
      key_id: z.string().describe('The key of SECRET_KEYS that the key pair is derived from'),
      public_key: z.string().describe('Ed25519, as PEM'),
    }),
  ),
})
export type AuditPublicKeys = z.infer<typeof AuditPublicKeys>
