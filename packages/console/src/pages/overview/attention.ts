import { queryOptions } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { unresolvedOf } from './unresolved.ts'

const MOST = 200

/**
 * The open and acknowledged incidents, and their counts and money. Live events are not written into it, so it is read again whenever
 * it is shown: it must not say that all is quiet because nobody looked for a moment.
 */
export function attentionQuery(project_id: string) {
  return queryOptions({
    queryKey: ['incidents', 'attention', project_id],
    async queryFn({ signal }) {
      const [open, acknowledged] = await Promise.all([
        api.incidents.list({ project_id, state: 'open', limit: MOST }, { signal }),
        api.incidents.list({ project_id, state: 'acknowledged', limit: MOST }, { signal }),
      ])
      const incidents = [...open.data, ...acknowledged.data]
      const actions = incidents.some(({ action_id }) => action_id !== null)
        ? await api.actions.list({ project_id, verdict: 'unexplained', limit: MOST }, { signal })
        : { data: [], next_cursor: null }
      return { incidents, unresolved: unresolvedOf(open, acknowledged, actions) }
    },
    staleTime: 0,
  })
}
