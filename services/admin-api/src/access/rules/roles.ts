import { type PersonDocument, Role, type RoleInProject, type Scope } from '@backstop/contracts'
import type { Grant } from './access.ts'

/** The scopes of each role. A role has the scopes of every role before it. */
const ROLE_SCOPES: Readonly<Record<Role, readonly Scope[]>> = {
  viewer: ['read'],
  responder: ['read', 'incidents:write'],
  approver: ['read', 'incidents:write', 'approvals:write'],
  manager: ['read', 'incidents:write', 'approvals:write', 'manage'],
  admin: ['admin'],
}

export function scopesOfRole(role: Role): readonly Scope[] {
  return ROLE_SCOPES[role]
}

/** The grants of a person: the highest role in each project counts, and a role in all projects counts in each of them. */
export function grantsOf({ roles, group_roles }: Pick<PersonDocument, 'roles' | 'group_roles'>): Grant[] {
  return highestRoles([...roles, ...group_roles]).map(({ project_id, role }) => ({
    projectId: project_id,
    scopes: ROLE_SCOPES[role],
  }))
}

/** The highest role in each project. */
export function highestRoles(roles: readonly RoleInProject[]): RoleInProject[] {
  const highest = new Map<string | null, Role>()
  for (const { project_id, role } of roles) {
    const known = highest.get(project_id)
    if (known === undefined || isHigher(role, known)) highest.set(project_id, role)
  }
  return [...highest].map(([project_id, role]) => ({ project_id, role }))
}

function isHigher(one: Role, other: Role): boolean {
  return Role.options.indexOf(one) > Role.options.indexOf(other)
}

/** Sets the role in each named project; null removes it. */
export function changeRoles(
  roles: readonly RoleInProject[],
  changes: readonly { readonly project_id: string | null; readonly role: Role | null }[],
): RoleInProject[] {
  const byProject = new Map(roles.map(({ project_id, role }) => [project_id, role]))
  for (const { project_id, role } of changes) {
    if (role === null) byProject.delete(project_id)
    else byProject.set(project_id, role)
  }
  return [...byProject].map(([project_id, role]) => ({ project_id, role }))
}

/** The projects of roles for lists; `*` stands for all projects. */
export function projectIdsOf(...roles: readonly (readonly RoleInProject[])[]): string[] {
  return [...new Set(roles.flat().map(({ project_id }) => project_id ?? '*'))]
}

/** The roles of a person in some projects. @param projectIds null stands for a role in all projects */
export function rolesIn(
  { roles, group_roles }: Pick<PersonDocument, 'roles' | 'group_roles'>,
  projectIds: readonly (string | null)[],
): Pick<PersonDocument, 'roles' | 'group_roles'> {
  const isIn = ({ project_id }: RoleInProject) => projectIds.includes(project_id)
  return { roles: roles.filter(isIn), group_roles: group_roles.filter(isIn) }
}
