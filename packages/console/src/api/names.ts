import type { Page } from '@backstop/client'
import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'

/** Names by id. */
type Names = ReadonlyMap<string, string>

/** More items are not read for their names: the others are shown by their id. */
const MOST_NAMED = 2_000
const PAGE_SIZE = 200
/** Names change rarely. The page that changes one reads the resource again. */
const STALE_MS = 5 * 60_000

async function namesOf<T>(list: Promise<Page<T>> & AsyncIterable<T>, entry: (item: T) => [string, string]) {
  const names = new Map<string, string>()
  for await (const item of list) {
    names.set(...entry(item))
    if (names.size >= MOST_NAMED) break
  }
  return names as Names
}

/**
 * The names of one kind of resource. They are read from its list and not by id: a GET of an id that the reader may not see is
 * refused, and the audit would show the refusal.
 */
export const nameQueries = {
  key: () =>
    queryOptions({
      queryKey: ['keys', 'names'],
      queryFn: ({ signal }) =>
        namesOf(api.apiKeys.list({ limit: PAGE_SIZE }, { signal }), ({ key_id, name }) => [key_id, name]),
      staleTime: STALE_MS,
    }),
  person: () =>
    queryOptions({
      queryKey: ['people', 'names'],
      queryFn: ({ signal }) =>
        namesOf(api.people.list({ limit: PAGE_SIZE }, { signal }), ({ person_id, name }) => [person_id, name]),
      staleTime: STALE_MS,
    }),
  connection: (projectId: string) =>
    queryOptions({
      queryKey: ['connections', 'names', projectId],
      queryFn: ({ signal }) =>
        namesOf(api.connections.list(projectId, { limit: PAGE_SIZE }, { signal }), ({ connection_id, name }) => [
          connection_id,
          name,
        ]),
      staleTime: STALE_MS,
    }),
  channel: (projectId: string) =>
    queryOptions({
      queryKey: ['channels', 'names', projectId],
      queryFn: ({ signal }) =>
        namesOf(
          api.alertChannels.list({ project_id: projectId, limit: PAGE_SIZE }, { signal }),
          ({ channel_id, name }) => [channel_id, name],
        ),
      staleTime: STALE_MS,
    }),
} as const
