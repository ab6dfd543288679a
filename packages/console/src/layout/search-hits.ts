import type { api } from '../api/client.ts'

type Result = Awaited<ReturnType<typeof api.search.search>>['data'][number]

/** The folder of the pages of each kind of search result. */
const PLACE_OF: Record<Exclude<Result['type'], 'actor'>, string> = {
  action: 'actions',
  incident: 'incidents',
  delivery: 'deliveries',
  connection: 'connections',
  channel: 'channels',
  operation: 'operations',
  run: 'runs',
}

/** The page of a search result. That of an actor is the list of its actions. */
export function pathOf({ type, id, project_id }: Pick<Result, 'type' | 'id' | 'project_id'>): string {
  if (type === 'actor') return `/p/${project_id}/actions?actor_id=${encodeURIComponent(id)}`
  return `/p/${project_id}/${PLACE_OF[type]}/${encodeURIComponent(id)}`
}
