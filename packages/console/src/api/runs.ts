import type { FailedRun } from '@backstop/client'
import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'
import { defineList } from './list.ts'

export const runList = defineList<FailedRun, { project_id: string }>({
  resource: 'runs',
  read: (query, signal) => api.runs.list(query, { signal }),
  idOf: run => run.run_id,
})

export function runQuery(id: string, project_id: string) {
  return queryOptions({
    queryKey: ['runs', 'one', project_id, id],
    queryFn: ({ signal }) => api.runs.get(id, { project_id }, { signal }),
  })
}
