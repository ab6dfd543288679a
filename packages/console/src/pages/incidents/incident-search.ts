import type { Incident, Page } from '@backstop/client'
import { api } from '../../api/client.ts'
import { filledPage } from '../../api/filled-page.ts'
import { incidentList } from '../../api/incidents.ts'
import { defineList } from '../../api/list.ts'

const RESULTS = 50

/** The incidents whose action fits a text: an id, customer or amount. The search of the API finds actions, so their incidents are read. */
export const foundIncidents = defineList<Incident, { project_id: string; q: string }>({
  resource: 'found-incidents',
  read: ({ cursor, ...query }, signal) => filledPage(next => searchPage({ ...query, cursor: next }, signal), cursor),
  idOf: incidentList.idOf,
})

interface Search {
  readonly project_id: string
  readonly q: string
  readonly cursor: string | undefined
}

async function searchPage({ project_id, q, cursor }: Search, signal: AbortSignal): Promise<Page<Incident>> {
  const options = { signal }
  const page = cursor === undefined ? {} : { cursor }
  const { data, next_cursor } = await api.search.search({ project_id, q, limit: RESULTS, ...page }, options)
  const hits = data.filter(({ type }) => type === 'action' || type === 'incident')
  const ids = await Promise.all(
    hits.map(async ({ type, id }) => (type === 'incident' ? id : (await api.actions.get(id, options)).incident_id)),
  )
  const known = [...new Set(ids)].filter(id => id !== null)
  const incidents = await Promise.all(known.map(id => api.incidents.get(id, options)))
  // Actions come first, so after a page without one there is none.
  return { data: incidents, next_cursor: hits.length === 0 ? null : next_cursor }
}
