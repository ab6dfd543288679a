import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'
import { allOf } from './resource.ts'

/** More items are not read for their names: the others are shown by their id. */
const MOST_NAMED = 2_000
/** Names change rarely. The page that changes one reads the resource again. */
const STALE_MS = 5 * 60_000
const PAGE = { limit: 200 }

function namesQuery<T extends { name: string }>(
  key: readonly string[],
  list: (options: { signal: AbortSignal }) => AsyncIterable<T>,
  idOf: (item: T) => string,
) {
  return queryOptions({
    queryKey: key,
    async queryFn({ signal }): Promise<ReadonlyMap<string, string>> {
      return new Map((await allOf(list({ signal }), MOST_NAMED)).map(item => [idOf(item), item.name]))
    },
    staleTime: STALE_MS,
  })
}

/**
 * The names of one kind of resource, by id. They are read from its list and not by id: a GET of an id that the reader may not see is
 * refused, and the audit would show the refusal.
 */
export const nameQueries = {
  key: () =>
    namesQuery(
      ['keys', 'names'],
      options => api.apiKeys.list(PAGE, options),
      ({ key_id }) => key_id,
    ),
  person: () =>
    namesQuery(
      ['people', 'names'],
      options => api.people.list(PAGE, options),
      ({ person_id }) => person_id,
    ),
  connection: (projectId: string) =>
    namesQuery(
      ['connections', 'names', projectId],
      options => api.connections.list(projectId, PAGE, options),
      ({ connection_id }) => connection_id,
    ),
  channel: (project_id: string) =>
    namesQuery(
      ['channels', 'names', project_id],
      options => api.alertChannels.list({ project_id, ...PAGE }, options),
      ({ channel_id }) => channel_id,
    ),
}
