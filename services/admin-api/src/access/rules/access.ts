import type { Scope } from '@backstop/contracts'

/** Who asks: an API key that was found good. */
export interface Principal {
  readonly keyId: string
  readonly scopes: readonly Scope[]
  /** The one project that the key is bound to, or null when it is good for all. */
  readonly projectId: string | null
}

/** Whether a key has the scope. */
export type AccessVerdict =
  | { readonly kind: 'granted' }
  | { readonly kind: 'refused'; readonly reason: 'scope_missing' }

/** Whether a key may do what needs that scope. Deny by default; `admin` holds every other scope. */
export function decideAccess(principal: Principal, needed: Scope): AccessVerdict {
  const isGranted = principal.scopes.includes(needed) || principal.scopes.includes('admin')
  return isGranted ? { kind: 'granted' } : { kind: 'refused', reason: 'scope_missing' }
}

/**
 * What every query for a project's resources is narrowed by. It comes from the key and never from the request, so that a
 * request that names a foreign project finds nothing.
 */
export function ownProject(principal: Principal): { readonly project_id?: string } {
  return principal.projectId === null ? {} : { project_id: principal.projectId }
}

/** The project filter of a list, or why the list is refused. */
export type ProjectFilter =
  | { readonly kind: 'filter'; readonly where: { readonly project_id?: string } }
  | { readonly kind: 'refused'; readonly reason: 'foreign_project' }

/** The project that a list is narrowed to: the one asked for, if the key is good for it. */
export function narrowToProject(principal: Principal, asked: string | undefined): ProjectFilter {
  if (asked === undefined) return { kind: 'filter', where: ownProject(principal) }
  if (principal.projectId !== null && principal.projectId !== asked)
    return { kind: 'refused', reason: 'foreign_project' }
  return { kind: 'filter', where: { project_id: asked } }
}

/** The project of a new key, or why the key is refused. */
export type KeyGrant =
  | { readonly kind: 'granted'; readonly projectId: string | null }
  | { readonly kind: 'refused'; readonly reason: 'foreign_project' }

/**
 * Which project a new key is bound to: a key that is bound makes only keys that are bound to the same project. Scopes need
 * no rule, because making keys takes `admin`, which holds them all.
 */
export function decideKeyGrant(principal: Principal, asked: string | undefined): KeyGrant {
  if (principal.projectId === null) return { kind: 'granted', projectId: asked ?? null }
  if (asked !== undefined && asked !== principal.projectId) return { kind: 'refused', reason: 'foreign_project' }
  return { kind: 'granted', projectId: principal.projectId }
}
