import type { Scope } from '@backstop/contracts'

/** The authenticated API key of a request. */
export interface Principal {
  readonly keyId: string
  readonly scopes: readonly Scope[]
  /** The only project that the key may access, or null if it may access all projects. */
  readonly projectId: string | null
}

/** The decision whether a key may call a route. */
export type AccessVerdict =
  | { readonly kind: 'granted' }
  | { readonly kind: 'refused'; readonly reason: 'scope_missing' }

/** Grants access if the key has the required scope. The scope `admin` includes every other scope. */
export function decideAccess(principal: Principal, needed: Scope): AccessVerdict {
  const isGranted = principal.scopes.includes(needed) || principal.scopes.includes('admin')
  return isGranted ? { kind: 'granted' } : { kind: 'refused', reason: 'scope_missing' }
}

/**
 * The filter for every query for a project's resources. It is computed from the key and never from the request, so a request that names
 * another project finds nothing.
 */
export function ownProjectFilter(principal: Principal): { readonly project_id?: string } {
  return principal.projectId === null ? {} : { project_id: principal.projectId }
}

/** The project filter of a list, or why the list is refused. */
export type ProjectFilter =
  | { readonly kind: 'filter'; readonly where: { readonly project_id?: string } }
  | { readonly kind: 'refused'; readonly reason: 'foreign_project' }

/** Restricts a list to the requested project. A key that is bound to another project is refused. */
export function restrictToProject(principal: Principal, asked: string | undefined): ProjectFilter {
  if (asked === undefined) return { kind: 'filter', where: ownProjectFilter(principal) }
  if (principal.projectId !== null && principal.projectId !== asked)
    return { kind: 'refused', reason: 'foreign_project' }
  return { kind: 'filter', where: { project_id: asked } }
}

/** The project of a new key, or why the key is refused. */
export type KeyProjectDecision =
  | { readonly kind: 'granted'; readonly projectId: string | null }
  | { readonly kind: 'refused'; readonly reason: 'foreign_project' }

/**
 * Decides to which project a new key is bound. A bound key creates only keys that are bound to the same project. Scopes need no rule:
 * creating keys requires `admin`, which includes all scopes.
 */
export function decideKeyProject(principal: Principal, asked: string | undefined): KeyProjectDecision {
  if (principal.projectId === null) return { kind: 'granted', projectId: asked ?? null }
  if (asked !== undefined && asked !== principal.projectId) return { kind: 'refused', reason: 'foreign_project' }
  return { kind: 'granted', projectId: principal.projectId }
}
