import { Label, Role, type RoleInProject } from '@backstop/contracts'
import { z } from 'zod'
import { highestRoles } from '../../access/rules/roles.ts'

/** The claims of a provider about a person, checked. */
export interface PersonClaims {
  readonly name: string
  readonly email: string | null
  /** Undefined if the provider did not state the groups. */
  readonly groups: readonly string[] | undefined
}

type Claims = Readonly<Record<string, unknown>>

const Email = z.email().max(254)
const MAX_NAME_LENGTH = 200
/** The claims that can name a person, the best one first. */
const NAME_CLAIMS = ['name', 'preferred_username', 'email', 'sub'] as const

/** True if the claims lack a name or the groups, so that the provider must be asked for more. */
export function isIncomplete(claims: Claims, groupsClaim: string): boolean {
  return ['name', groupsClaim].some(name => !Object.hasOwn(claims, name))
}

/** Reads the claims. People choose their own names at some providers, so a name that could not be shown safely is not used. */
export function readClaims(claims: Claims, groupsClaim: string): PersonClaims {
  const names = NAME_CLAIMS.flatMap(claim => {
    const given = claims[claim]
    return typeof given === 'string' ? (Label.safeParse(given.slice(0, MAX_NAME_LENGTH)).data ?? []) : []
  })
  return {
    name: names[0] ?? 'Unnamed',
    email: Email.safeParse(claims.email).data ?? null,
    groups: readGroups(Object.hasOwn(claims, groupsClaim) ? claims[groupsClaim] : undefined),
  }
}

function readGroups(given: unknown): readonly string[] | undefined {
  return Array.isArray(given) ? given.filter(group => typeof group === 'string') : undefined
}

/** OpenID Connect Core, 2: a subject has at most 255 characters. */
const MAX_SUBJECT_LENGTH = 255

/** Which claim makes the sign-in of a person impossible; undefined if none does. */
export function findUnusableClaim(claims: Claims, groupsClaim: string): 'sub' | 'groups' | undefined {
  const { sub } = claims
  // All people with an empty subject would be one person.
  if (typeof sub !== 'string' || sub === '' || sub.length > MAX_SUBJECT_LENGTH) return 'sub'
  // Text could be one group, or several in a form that only the provider knows.
  const groups = Object.hasOwn(claims, groupsClaim) ? claims[groupsClaim] : undefined
  return groups == null || Array.isArray(groups) ? undefined : 'groups'
}

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
