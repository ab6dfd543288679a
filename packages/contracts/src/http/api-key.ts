import { z } from 'zod'
import { Timestamp } from '../actions/operation.ts'
import { Label } from './project.ts'

/**
 * The permissions of a key. Reporting operations has its own scope, because operations explain refunds: an agent with a key for another
 * purpose must not be able to explain its own refunds.
 */
export const Scope = z.enum([
  /** Includes all other scopes. Only this scope creates projects and keys. */
  'admin',
  /** Create, change, test and delete connections, alert channels, budgets and suppressions; send deliveries again. */
  'manage',
  /** Acknowledge, assign, resolve, reopen and comment incidents. */
  'incidents:write',
  /** Report operations and runs and their outcomes. */
  'operations:write',
  /** Approve and decline operations. A new key has either this scope or `operations:write`; `admin` includes both. */
  'approvals:write',
  /** All GET requests. */
  'read',
])
export type Scope = z.infer<typeof Scope>

/** A key expires within a year at most, so that a leaked key does not work for ever. */
const MAX_EXPIRY_DAYS = 365

/** The body of POST /v1/api-keys. */
export const NewApiKey = z.strictObject({
  name: Label,
  scopes: z
    .array(Scope)
    .min(1)
    .refine(scopes => new Set(scopes).size === scopes.length, 'Name each scope once')
    .refine(
      scopes => !(scopes.includes('operations:write') && scopes.includes('approvals:write')),
      'Make two keys: software that reports operations must not approve them',
    ),
  project_id: z
    .string()
    .optional()
    .describe('Binds the key to one project; if omitted, the key works for all projects'),
  expires_in_days: z.int().min(1).max(MAX_EXPIRY_DAYS).default(90),
})
export type NewApiKey = z.infer<typeof NewApiKey>

/** The body of PATCH /v1/api-keys/{id}. */
export const ApiKeyPatch = z.strictObject({ name: Label })

/** The body of POST /v1/api-keys/{id}/rotate. */
export const ApiKeyRotation = z.strictObject({
  overlap_hours: z.int().min(0).max(168).default(24).describe('How long the previous key is also accepted'),
  expires_in_days: z.int().min(1).max(MAX_EXPIRY_DAYS).default(90).describe('When the new key expires'),
})

/** An API key as the API answers it. */
export const ApiKey = z.object({
  key_id: z.string(),
  name: z.string(),
  hint: z.string().describe('The first characters of the key'),
  scopes: z.array(Scope),
  project_id: z.string().nullable(),
  state: z.enum(['active', 'expired', 'revoked']),
  created_at: Timestamp,
  created_by: z.string().nullable().describe('The key or person that created it; null for the bootstrap key'),
  expires_at: Timestamp.nullable(),
  last_used_at: Timestamp.nullable().describe('Accurate to one minute'),
  rotated_at: Timestamp.nullable(),
  previous: z
    .object({ hint: z.string(), expires_at: Timestamp, last_used_at: Timestamp.nullable() })
    .nullable()
    .describe('The key before the rotation, while it is still accepted'),
  revoked_at: Timestamp.nullable(),
  revoked_by: z.string().nullable().describe('The key or person that revoked it'),
  version: z.int(),
  updated_at: Timestamp,
})
export type ApiKey = z.infer<typeof ApiKey>

/** The answer to POST /v1/api-keys and to a rotation. Only this answer shows the key. */
export const CreatedApiKey = ApiKey.extend({
  key: z.string().optional().describe('The key: shown once, and absent from a repeated answer'),
})

/** The keys that encrypt the stored secrets of connections and channels (setting SECRET_KEYS). */
export const SecretKeys = z.object({
  primary_key_id: z.string().describe('Encrypts new secrets: the first key of SECRET_KEYS'),
  keys: z
    .array(
      z.object({
        key_id: z.string(),
        secrets: z.int().describe('The number of stored secrets that this key encrypts'),
        available: z.boolean().describe('False if SECRET_KEYS lacks the key: its secrets cannot be read'),
      }),
    )
    .describe('The keys of all stored secrets. A key that is not listed, and is not the primary key, may be removed'),
})
export type SecretKeys = z.infer<typeof SecretKeys>

/** The result of one call that encrypts stored secrets with the primary key. */
export const SecretRewrap = z.object({
  rewrapped: z.int().describe('The number of connections and channels that this call changed'),
  remaining: z.int().describe('The number that still has secrets of other keys. Call again until it is 0'),
  unreadable: z
    .array(z.object({ kind: z.enum(['connection', 'channel']), id: z.string(), reason: z.string() }))
    .describe('Skipped, because a secret cannot be read'),
})
export type SecretRewrap = z.infer<typeof SecretRewrap>
