import { z } from 'zod'
import { Timestamp } from '../actions/operation.ts'
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
