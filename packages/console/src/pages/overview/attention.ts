import { queryOptions } from '@tanstack/react-query'
import { api } from '../../api/client.ts'

/** The incidents that are read for the rows. The counts and sums are those of the server. */
const MOST_READ = 200

/** What waits for a person or for a second look, counted by the server. */
export type Unresolved = Awaited<ReturnType<typeof api.projects.getUnresolved>>

/**
 * The newest open and acknowledged incidents, and the counts and money of all. Live events are not written into it, so it is read again
 * whenever it is shown: it must not say that all is quiet because nobody looked for a moment.
 */
export function attentionQuery(project_id: string) {
  return queryOptions({
    queryKey: ['incidents', 'attention', project_id],
    async queryFn({ signal }) {
      const newest = (state: 'open' | 'acknowledged') =>
        api.incidents.list({ project_id, state, limit: MOST_READ }, { signal })
      const [unresolved, open, acknowledged] = await Promise.all([
        api.projects.getUnresolved(project_id, { signal }),
        newest('open'),
        newest('acknowledged'),
      ])
      const hasMore = open.next_cursor !== null || acknowledged.next_cursor !== null
      return { unresolved, incidents: [...open.data, ...acknowledged.data], hasMore }
    },
    staleTime: 0,
  })
}
