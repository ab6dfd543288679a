import { Role, type RoleInProject } from '@backstop/contracts'
import { highestRoles } from '../../access/rules/roles.ts'

/** A role that the members of a group of the OpenID Connect provider have. */
export interface GroupRole extends RoleInProject {
  readonly group: string
}

/** The last `=` separates, because groups of directories contain it too. */
const ENTRY = /^(.+)=([a-z]+)(?:@(prj_\w+))?$/

/** Reads `<group>=<role>` or `<group>=<role>@<project_id>`; undefined if the entry has another form. */
export function parseGroupRole(entry: string): GroupRole | undefined {
  const [, group, roleName, project_id = null] = ENTRY.exec(entry) ?? []
  const role = Role.safeParse(roleName)
  return group === undefined || !role.success ? undefined : { group: group.trim(), role: role.data, project_id }
}

/** The roles of somebody who is in these groups. Groups are compared exactly. */
export function rolesOfGroups(groups: readonly string[], groupRoles: readonly GroupRole[]): RoleInProject[] {
  const granted = groupRoles.filter(({ group }) => groups.includes(group))
  return highestRoles(granted.map(({ project_id, role }) => ({ project_id, role })))
}
