import type { Scope } from '@backstop/contracts'

/** The scopes of a principal in one project, or in all projects. */
export interface Grant {
  /** Null: all projects. */
  readonly projectId: string | null
  readonly scopes: readonly Scope[]
}

/** Who makes a request: an API key or a person. */
export interface Identity {
  readonly kind: 'key' | 'person'
  /** Id of the key or person. */
  readonly id: string
  readonly name: string
  /** The session of the request; null if the request has an API key. */
  readonly sessionId: string | null
  /** Hash of the accepted secret of the key: of the previous one, if the request or the session has that. Null for people. */
  readonly keyHash: string | null
  readonly grants: readonly Grant[]
}

/** An identity that may call a route. */
export interface Principal extends Identity {
  /** The projects in which it has the scope of the route; null: all projects. */
  readonly projectIds: readonly string[] | null
}

/** The scope of a route. `signed_in`: any key or person, with any scope. */
export type NeededScope = Scope | 'signed_in'

/** The decision whether an identity may call a route. */
export type AccessVerdict =
  | { readonly kind: 'granted'; readonly projectIds: readonly string[] | null }
  | { readonly kind: 'refused'; readonly reason: 'scope_missing' }

/** Grants access in the projects in which the identity has the required scope. The scope `admin` includes every other scope. */
export function decideAccess({ grants }: Pick<Identity, 'grants'>, needed: NeededScope): AccessVerdict {
  if (needed === 'signed_in') return { kind: 'granted', projectIds: projectsOf(grants) }
  const having = grants.filter(({ scopes }) => scopes.includes(needed) || scopes.includes('admin'))
  return having.length === 0
    ? { kind: 'refused', reason: 'scope_missing' }
    : { kind: 'granted', projectIds: projectsOf(having) }
}

function projectsOf(grants: readonly Grant[]): readonly string[] | null {
  const ids = grants.map(({ projectId }) => projectId)
  return ids.includes(null) ? null : [...new Set(ids as string[])]
}

/** How a principal may use something of a project: `visible` if it has a role there, but not the scope of the route. */
export type Reach = 'allowed' | 'visible' | 'hidden'

/** @param projectId null for something of all projects */
export function decideReach({ grants, projectIds }: Principal, projectId: string | null): Reach {
  if (projectIds === null || (projectId !== null && projectIds.includes(projectId))) return 'allowed'
  const hasRole = grants.some(grant => grant.projectId === null || grant.projectId === projectId)
  return hasRole ? 'visible' : 'hidden'
}

/** The project filter of a list, or why the list is refused. */
export type ProjectFilter =
  | { readonly kind: 'filter'; readonly where: { readonly project_id?: string } }
  | { readonly kind: 'refused'; readonly reason: Exclude<Reach, 'allowed'> | 'several_projects' }

/**
 * Restricts a list to the requested project, or to the only project of the principal. It is computed from the principal, so a request that
 * names another project finds nothing.
 */
export function restrictToProject(principal: Principal, asked: string | undefined): ProjectFilter {
  const { projectIds } = principal
  if (asked !== undefined) {
    const reach = decideReach(principal, asked)
    return reach === 'allowed' ? { kind: 'filter', where: { project_id: asked } } : { kind: 'refused', reason: reach }
  }
  if (projectIds === null) return { kind: 'filter', where: {} }
  const [only, ...others] = projectIds
  return only === undefined || others.length > 0
    ? { kind: 'refused', reason: 'several_projects' }
    : { kind: 'filter', where: { project_id: only } }
}

/** The project of a new key, or why the key is refused. */
export type KeyProjectDecision =
  | { readonly kind: 'granted'; readonly projectId: string | null }
  | { readonly kind: 'refused'; readonly reason: Exclude<Reach, 'allowed'> | 'several_projects' }

/**
 * Decides to which project a new key is bound. A principal creates only keys for its own projects. Scopes need no rule:
 * creating keys requires `admin`, which includes all scopes.
 */
export function decideKeyProject(principal: Principal, asked: string | undefined): KeyProjectDecision {
  const filter = restrictToProject(principal, asked)
  return filter.kind === 'refused' ? filter : { kind: 'granted', projectId: filter.where.project_id ?? null }
}

/** True if the principal administers all projects. */
export function isAdminOfAll({ grants }: Identity): boolean {
  return grants.some(({ projectId, scopes }) => projectId === null && scopes.includes('admin'))
}
