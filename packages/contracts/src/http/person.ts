import { z } from 'zod'
import { Timestamp } from '../actions/operation.ts'
import { Scope } from './api-key.ts'
import { IdFilter, ListQuery } from './list.ts'
import { Label } from './project.ts'

/** The roles of people, each with all rights of the roles before it. */
export const Role = z.enum([
  /** Reads everything. */
  'viewer',
  /** Also acknowledges, assigns, resolves and comments incidents. */
  'responder',
  /** Also approves and declines operations. */
  'approver',
  /** Also changes connections, alert channels, budgets, expected changes and silences. */
  'manager',
  /** Everything, including API keys and people. */
  'admin',
])
export type Role = z.infer<typeof Role>

/** A role in one project, or in all projects. */
export const RoleInProject = z.strictObject({
  project_id: z.string().nullable().describe('null: all projects, also future ones'),
  role: Role,
})
export type RoleInProject = z.infer<typeof RoleInProject>

const MAX_ROLES = 100

/** The body of POST /v1/people. */
export const NewPerson = z.strictObject({
  name: Label,
  email: z.email().max(254).optional(),
  roles: z.array(RoleInProject).min(1).max(MAX_ROLES),
})

/** The body of PATCH /v1/people/{id}. Projects that `roles` does not name keep their role. */
export const PersonPatch = z
  .strictObject({
    name: Label.optional(),
    disabled: z.boolean().optional().describe('True ends all sessions and refuses every sign-in'),
    roles: z
      .array(RoleInProject.extend({ role: Role.nullable().describe('null removes the role') }))
      .min(1)
      .max(MAX_ROLES)
      .optional(),
  })
  .refine(patch => Object.keys(patch).length > 0, 'Give at least one field to change')
export type PersonPatch = z.infer<typeof PersonPatch>

/** The query of GET /v1/people. */
export const PersonQuery = ListQuery.extend({
  project_id: IdFilter.optional().describe('Only people with a role in this project, also by a role in all projects'),
})

/** A person as the API answers it. */
export const Person = z.object({
  person_id: z.string(),
  name: z.string(),
  email: z.string().nullable(),
  roles: z.array(
    z.object({
      project_id: z.string().nullable(),
      role: Role,
      source: z.enum(['assigned', 'group']).describe('group: from the groups at the last sign-in with OpenID Connect'),
    }),
  ),
  disabled: z.boolean(),
  issuer: z.string().nullable().describe('The OpenID Connect provider; null if the person signs in by link only'),
  last_sign_in_at: Timestamp.nullable(),
  version: z.int(),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Person = z.infer<typeof Person>

/** The body of POST /v1/sessions. */
export const NewSession = z.union([
  z.strictObject({ key: z.string().min(1).max(512).describe('An API key') }),
  z.strictObject({ token: z.string().min(1).max(512).describe('The token of a sign-in link') }),
])

/** A session as the API answers it. The cookie holds its secret. */
export const Session = z.object({
  session_id: z.string(),
  kind: z.enum(['key', 'person']),
  principal_id: z.string().describe('The key or person that is signed in'),
  signed_in_by: z.enum(['key', 'link', 'oidc']),
  state: z.enum(['active', 'expired', 'ended']),
  created_at: Timestamp,
  last_seen_at: Timestamp.describe('Accurate to one minute'),
  expires_at: Timestamp.describe('The latest end; a session that is not used for 8 hours ends earlier'),
  ended_at: Timestamp.nullable(),
  address: z.string().nullable(),
  user_agent: z.string().nullable(),
})
export type Session = z.infer<typeof Session>

/** The body of POST /v1/sign-in-links. */
export const NewSignInLink = z.strictObject({
  person_id: z.string().optional().describe('Who signs in; if omitted, the caller'),
})

/** The answer to POST /v1/sign-in-links. */
export const SignInLink = z.object({
  url: z.string().optional().describe('Opens the console signed in, once: shown once'),
  token: z.string().optional().describe('For POST /v1/sessions, once: shown once'),
  expires_at: Timestamp,
})

/** The answer to GET /v1/me. */
export const Me = z.object({
  kind: z.enum(['key', 'person']),
  id: z.string(),
  name: z.string(),
  session_id: z.string().nullable().describe('null if the request was made with an API key'),
  grants: z.array(
    z.object({ project_id: z.string().nullable().describe('null: all projects'), scopes: z.array(Scope) }),
  ),
})
export type Me = z.infer<typeof Me>
