import { deterministicId, type PersonDocument, type RoleInProject } from '@backstop/contracts'
import { projectIdsOf } from '../../../access/rules/roles.ts'
import type { ProvenPerson } from '../../../oidc/identity-provider.ts'

/** Whether a person whom the provider authenticated may sign in. */
export type SignInDecision =
  | { readonly kind: 'accepted'; readonly person: PersonDocument }
  | {
      readonly kind: 'refused'
      readonly reason: 'disabled' | 'groups_missing' | 'no_role'
      /** The person without the roles of earlier groups; undefined if nothing is to be stored. */
      readonly person: PersonDocument | undefined
    }

/** The id of a person of a provider. It follows from the subject, so two first sign-ins at once create one person. */
export function personIdOf({ issuer, subject }: Pick<ProvenPerson, 'issuer' | 'subject'>): string {
  return deterministicId('person', issuer, subject)
}

/**
 * Decides about a sign-in. The groups at this sign-in replace those of the last one, so a person who left a group loses its role. Roles
 * that people assigned are kept.
 * @param stored undefined at the first sign-in
 * @param groupRoles the roles of the person's groups
 */
export function decideSignIn(
  stored: PersonDocument | undefined,
  proven: ProvenPerson,
  groupRoles: readonly RoleInProject[],
  now: Date,
): SignInDecision {
  if (stored?.disabled) return { kind: 'refused', reason: 'disabled', person: undefined }
  const person = updatePerson(stored ?? newPerson(proven, now), proven, groupRoles, now)
  if (person.project_ids.length > 0) return { kind: 'accepted', person: { ...person, last_sign_in_at: now } }
  const reason = proven.groups === undefined ? 'groups_missing' : 'no_role'
  return { kind: 'refused', reason, person: stored === undefined || person === stored ? undefined : person }
}

function newPerson(proven: ProvenPerson, now: Date): PersonDocument {
  const { issuer, subject, name, email } = proven
  return {
    _id: personIdOf(proven),
    issuer,
    subject,
    name,
    email,
    roles: [],
    group_roles: [],
    project_ids: [],
    disabled: false,
    last_sign_in_at: null,
    created_at: now,
    version: 0,
    updated_at: now,
  }
}

function updatePerson(
  before: PersonDocument,
  { name, email }: ProvenPerson,
  groupRoles: readonly RoleInProject[],
  now: Date,
): PersonDocument {
  const project_ids = projectIdsOf(before.roles, groupRoles)
  const after = { ...before, name, email, group_roles: [...groupRoles], project_ids }
  const isSame = before.version > 0 && contentOf(before) === contentOf(after)
  return isSame ? before : { ...after, version: before.version + 1, updated_at: now }
}

function contentOf({ name, email, group_roles, project_ids }: PersonDocument): string {
  const roles = group_roles.map(({ project_id, role }) => [project_id, role])
  return JSON.stringify([name, email, roles, project_ids])
}
