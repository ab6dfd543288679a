import type { api } from '../api/client.ts'

type Result = Awaited<ReturnType<typeof api.search.search>>['data'][number]

/** The folder of the pages of each kind of search result. */
const PLACE_OF: Record<Result['type'], string> = {
  action: 'actions',
  actor: 'actors',
  customer: 'customers',
  incident: 'incidents',
  delivery: 'deliveries',
  connection: 'connections',
  channel: 'channels',
  operation: 'operations',
  run: 'runs',
}

/** The page of a search result. A customer has its id from the account of a connection. */
export function pathOf({
  type,
  id,
  project_id,
  connection_id,
}: Pick<Result, 'type' | 'id' | 'project_id' | 'connection_id'>): string {
  const path = `/p/${project_id}/${PLACE_OF[type]}/${encodeURIComponent(id)}`
  return type === 'customer' && connection_id !== null ? `${path}?connection_id=${connection_id}` : path
}
