import type { ListedIncident } from '../../api/incidents.ts'
import type { ListState } from '../../api/list.ts'

/** The list with one row for each storm that the API folded: its other incidents, which live events add, have no row of their own. */
export function foldStorms(list: ListState<ListedIncident>): ListState<ListedIncident> {
  const folded = new Set(list.items.flatMap(({ storm }) => storm?.storm_id ?? []))
  const isWithin = ({ storm_id }: ListedIncident) => storm_id != null && folded.has(storm_id)
  const shown = new Set<string>()
  const items = list.items.filter(incident => {
    if (incident.storm === undefined) return !isWithin(incident)
    const { storm_id } = incident.storm
    return !shown.has(storm_id) && shown.add(storm_id)
  })
  return { ...list, items, arrivals: list.arrivals.filter(incident => !isWithin(incident)) }
}
