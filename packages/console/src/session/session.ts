import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, queryClient } from '../api/client.ts'

export type Me = Awaited<ReturnType<typeof api.me.get>>
export type Scope = Me['grants'][number]['scopes'][number]

export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: ({ signal }) => api.me.get({ signal }),
  staleTime: 60_000,
})

/** Whether somebody may use a scope in a project. Without a project: in all projects. */
function mayIn(me: Me, scope: Scope, projectId?: string): boolean {
  return me.grants.some(
    grant =>
      (grant.project_id === null || grant.project_id === projectId) &&
      (grant.scopes.includes(scope) || grant.scopes.includes('admin')),
  )
}

/** Whether somebody is an admin of at least one project. */
export function isAdminAnywhere(me: Me | undefined): boolean {
  return me?.grants.some(({ scopes }) => scopes.includes('admin')) ?? false
}

/** Who is signed in, and `may(scope, project)`. While it is loading, nothing is allowed, so no refused control is shown. */
export function useSession(): { me: Me | undefined; may: (scope: Scope, projectId?: string) => boolean } {
  const { data: me } = useQuery(meQuery)
  return { me, may: (scope, projectId) => me !== undefined && mayIn(me, scope, projectId) }
}

export async function signOut(): Promise<void> {
  await api.sessions.end('current')
  forgetSession()
}

/** Removes everything that the signed-in key or person could read. */
export function forgetSession(): void {
  queryClient.clear()
}
