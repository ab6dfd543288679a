import type { Action, Incident } from '@backstop/client'
import { queryOptions } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import type { Storm } from '../../api/storms.ts'

/** An incident of a storm with the action that it is about. */
export interface Member {
  readonly incident: Incident
  readonly action: Action | undefined
}

/** More members are counted by the API, but not listed and not compared. */
export const MAX_MEMBERS = 1_000
const PAGE = 200
/** A storm begins with its tenth incident, so its first nine opened before; and each action was seen before its incident opened. */
const BEFORE_MS = 60 * 60_000
/** Longer than the clocks of two services differ. */
const AFTER_MS = 60_000

/** The newest members of a storm. The API has no filter for them, so they are chosen from its connection and time. */
export function membersQuery(storm: Storm) {
  const { storm_id, project_id, connection_id, began_at, last_at } = storm
  return queryOptions({
    queryKey: ['storms', 'members', storm_id, last_at],
    async queryFn({ signal }): Promise<Member[]> {
      const where = { project_id, connection_id, limit: PAGE }
      const from = new Date(Date.parse(began_at) - BEFORE_MS).toISOString()
      const to = new Date(Date.parse(last_at) + AFTER_MS).toISOString()
      const incidents = await readAll(
        api.incidents.list({ ...where, from, to }, { signal }),
        incident => incident.storm_id === storm_id,
      )
      const wanted = new Set(incidents.map(({ incident_id }) => incident_id))
      const actions = await readAll(api.actions.list({ ...where, from, to }, { signal }), ({ incident_id }) =>
        wanted.has(incident_id ?? ''),
      )
      const actionOf = new Map(actions.map(action => [action.incident_id, action]))
      return incidents.map(incident => ({ incident, action: actionOf.get(incident.incident_id) }))
    },
  })
}

async function readAll<T>(items: AsyncIterable<T>, isWanted: (item: T) => boolean): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) {
    if (isWanted(item)) found.push(item)
    if (found.length === MAX_MEMBERS) break
  }
  return found
}
