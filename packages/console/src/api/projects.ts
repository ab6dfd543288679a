import { queryOptions } from '@tanstack/react-query'
import { allOf } from './all-of.ts'
import { api } from './client.ts'

/** All projects that the signed-in key or person may see. A person sees few, so all pages are read. */
export const projectsQuery = queryOptions({
  queryKey: ['projects', 'all'],
  queryFn: ({ signal }) => allOf(api.projects.list({ limit: 200 }, { signal })),
  staleTime: 5 * 60_000,
})

export function projectQuery(id: string) {
  return queryOptions({
    queryKey: ['projects', 'one', id],
    queryFn: ({ signal }) => api.projects.get(id, { signal }),
  })
}
