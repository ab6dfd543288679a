import type { Connection } from '@backstop/client'
import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'

export type DryRun = Awaited<ReturnType<typeof api.connections.dryRun>>

/** What alerted since `from`, and what would have alerted by another setting. The last answer stays while the next one is read. */
export function dryRunQuery(connection: Connection, out_of_band: DryRun['out_of_band'], from: string) {
  const { project_id, connection_id } = connection
  return queryOptions({
    queryKey: ['dry-runs', 'one', connection_id, out_of_band, from],
    queryFn: ({ signal }) => api.connections.dryRun(project_id, connection_id, { out_of_band, from }, { signal }),
    placeholderData: previous => (previous?.connection_id === connection_id ? previous : undefined),
  })
}
