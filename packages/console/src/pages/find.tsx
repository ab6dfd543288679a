import { useQuery } from '@tanstack/react-query'
import { Navigate, useLocation } from '@tanstack/react-router'
import { api } from '../api/client.ts'
import { PageMissing } from '../layout/page-failed.tsx'
import { Problem } from '../parts/page/index.ts'

type Found = { project_id: string }
const READERS: Record<string, (id: string) => Promise<Found>> = {
  incidents: id => api.incidents.get(id),
  actions: id => api.actions.get(id),
  operations: id => api.operations.get(id),
  budgets: id => api.budgets.get(id),
  runs: id => api.runs.get(id),
  storms: id => api.storms.get(id),
}

/** Opens `/incidents/inc_…` of an alert as `/p/prj_…/incidents/inc_…`. */
export function Page() {
  const { pathname, searchStr } = useLocation()
  const [, place = '', id = ''] = pathname.split('/').map(decodeURIComponent)
  const read = READERS[place]
  const { data, error, refetch } = useQuery({
    queryKey: ['find', place, id],
    queryFn: () => read?.(id) ?? null,
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (error !== null) return <Problem error={error} retry={() => void refetch()} what={`${id} could not be read`} />
  if (data === null) return <PageMissing />
  if (data === undefined) return null
  return <Navigate to={`/p/${data.project_id}/${place}/${encodeURIComponent(id)}${searchStr}` as '/'} replace />
}
