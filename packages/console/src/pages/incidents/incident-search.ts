import type { Incident } from '@backstop/client'
import { api } from '../../api/client.ts'
import { incidentList } from '../../api/incidents.ts'
import { defineList } from '../../api/list.ts'

const RESULTS = 50

/** The incidents whose action fits a text: an id, customer or amount. The search of the API finds actions, so their incidents are read. */
export const foundIncidents = defineList<Incident, { project_id: string; q: string }>({
  resource: 'found-incidents',
  async read({ project_id, q, cursor }, signal) {
    const options = { signal }
    const page = cursor === undefined ? {} : { cursor }
    const { data, next_cursor } = await api.search.search({ project_id, q, limit: RESULTS, ...page }, options)
    const ids = await Promise.all(
      data.map(async ({ type, id }) => {
        if (type === 'incident') return id
        return type === 'action' ? (await api.actions.get(id, options)).incident_id : null
      }),
    )
    const known = [...new Set(ids)].filter(id => id !== null)
    return { data: await Promise.all(known.map(id => api.incidents.get(id, options))), next_cursor }
  },
  idOf: incidentList.idOf,
})
