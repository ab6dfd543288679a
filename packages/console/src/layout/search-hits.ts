import type { api } from '../api/client.ts'

type Result = Awaited<ReturnType<typeof api.search.search>>['data'][number]

/** The folder of the pages of each kind of search result. */
const PLACE_OF: Record<Result['type'], string> = {
  action: 'actions',
  incident: 'incidents',
  delivery: 'deliveries',
  connection: 'connections',
  channel: 'channels',
  operation: 'operations',
  run: 'runs',
}

/** The page of a search result. */
export function pathOf({ type, id, project_id }: Pick<Result, 'type' | 'id' | 'project_id'>): string {
  return `/p/${project_id}/${PLACE_OF[type]}/${encodeURIComponent(id)}`
}
