import { z } from 'zod'
import { Timestamp } from '../operation.ts'
import { Label } from './project.ts'

/**
 * What a key may do. Reporting operations is a scope of its own, because what is reported explains refunds: a key that an
 * agent holds for anything else must not be able to explain its own.
 */
export const Scope = z.enum([
  /** Everything, and the only scope that makes projects and keys. */
  'admin',
  /** Connections, alert channels, budgets: make, change, test, delete. Send deliveries again, keep suppressions. */
  'manage',
  /** Report operations and runs, and what became of them. */
  'operations:write',
  /** Approve and decline operations that wait for it: never for a key that reports them. */
  'approvals:write',
  /** Every GET. */
  'read',
])
export type Scope = z.infer<typeof Scope>

/** The longest life of a key (guides: R3.4). */
const MAX_EXPIRY_DAYS = 365

export const NewApiKey = z.strictObject({
  name: Label,
  scopes: z
    .array(Scope)
    .min(1)
    .refine(scopes => new Set(scopes).size === scopes.length, 'Name each scope once'),
  project_id: z.string().optional().describe('Binds the key to one project; without it the key is good for all'),
  expires_in_days: z.int().min(1).max(MAX_EXPIRY_DAYS).default(90),
})
export type NewApiKey = z.infer<typeof NewApiKey>

export const ApiKey = z.object({
  key_id: z.string(),
  name: z.string(),
  hint: z.string().describe('How the key begins'),
  scopes: z.array(Scope),
  project_id: z.string().nullable(),
  created_at: Timestamp,
  expires_at: Timestamp.nullable(),
  last_used_at: Timestamp.nullable().describe('To the minute'),
})
export type ApiKey = z.infer<typeof ApiKey>

export const CreatedApiKey = ApiKey.extend({
  key: z.string().optional().describe('The key itself: shown once, and absent from a repeated answer'),
})
