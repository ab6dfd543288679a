import type { Action } from '@backstop/client'
import { queryOptions } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import type { ListedIncident, Storm } from '../../api/incidents.ts'
import { allOf } from '../../api/resource.ts'

/** An incident of a storm with the action that it is about. */
export interface Member {
  readonly incident: ListedIncident
  readonly action: Action | undefined
}

/** More members are counted by the API, but not listed and not compared. */
export const MAX_MEMBERS = 1_000
const PAGE = 200

/** The newest members of a storm. The key is the same while the storm goes on, so that its members stay in view. */
export function membersQuery({ project_id, storm_id }: Storm) {
  return queryOptions({
    queryKey: ['storms', 'members', storm_id],
    async queryFn({ signal }): Promise<Member[]> {
      const where = { project_id, storm_id, limit: PAGE }
      const [incidents, actions] = await Promise.all([
        allOf(api.incidents.list(where, { signal }), MAX_MEMBERS),
        allOf(api.actions.list(where, { signal }), MAX_MEMBERS),
      ])
      const actionOf = new Map(actions.map(action => [action.incident_id, action]))
      return incidents.map(incident => ({ incident, action: actionOf.get(incident.incident_id) }))
    },
    staleTime: 0,
  })
}
