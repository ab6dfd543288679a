import type { ActionDocument } from '@backstop/contracts'
import { asUnavailable } from '@backstop/kit'
import { type Db, MaxKey } from 'mongodb'
import { foundKey, type SearchIndex, type SearchRequest } from './search-index.ts'

/** After every key that begins with a prefix. */
const HIGHEST = '\u{10ffff}'

interface StoredHit {
  _id: string
  search?: string[]
  // biome-ignore lint/suspicious/noExplicitAny: the field of the date depends on the collection
  [by: string]: any
}

/**
 * Searches in MongoDB. The bounds of the index are given directly (`min` and `max`), because MongoDB would sort in memory if a filter
 * names a range of an array. One scan of the index then gives its own order.
 */
export function createMongoSearchIndex(db: Db): SearchIndex {
  async function search(collection: string, by: string, request: SearchRequest): Promise<StoredHit[]> {
    const { projectId, prefix, after, limit } = request
    const end = new MaxKey()
    const found: StoredHit[] = []
    let place = after
    while (found.length < limit) {
      const wanted = limit - found.length + 1
      // Dates and ids are in descending order, so the highest ones come first. The place itself is found again.
      const from =
        place === undefined
          ? { search: prefix, [by]: end, _id: end }
          : { search: place.key, [by]: place.at, _id: place.id }
      const page = await db
        .collection<StoredHit>(collection)
        .find({}, { projection: { outbox: 0, outbox_at: 0, timer_at: 0, timeline: 0, why: 0 } })
        .hint({ project_id: 1, search: 1, [by]: -1, _id: -1 })
        .min({ project_id: projectId, ...from })
        .max({ project_id: projectId, search: `${prefix}${HIGHEST}`, [by]: end, _id: end })
        .limit(wanted)
        .toArray()
      const start = place
      for (const document of page) {
        const key = foundKey(document, document[by], prefix, start)
        if (key === undefined) continue
        place = { key, at: document[by], id: document._id }
        // A document with several such keys was found before by the first of them.
        if (foundKey(document, document[by], prefix) === key) found.push(document)
      }
      if (page.length < wanted) break
    }
    return found.slice(0, limit)
  }
  async function findIncidentIds({ projectId, prefix, limit }: Omit<SearchRequest, 'after'>): Promise<string[]> {
    const end = new MaxKey()
    const found = await db
      .collection<ActionDocument>('actions')
      .find({ incident_id: { $type: 'string' } }, { projection: { _id: 0, incident_id: 1 } })
      .hint({ project_id: 1, search: 1, incident_id: -1 })
      .min({ project_id: projectId, search: prefix, incident_id: end })
      .max({ project_id: projectId, search: `${prefix}${HIGHEST}`, incident_id: end })
      .limit(limit)
      .toArray()
    return found.flatMap(({ incident_id }) => incident_id ?? [])
  }
  return {
    incidentIds: request => asUnavailable(() => findIncidentIds(request)),
    actions: request => asUnavailable(async () => (await search('actions', 'first_seen', request)) as never),
    operations: request => asUnavailable(async () => (await search('operations', 'created_at', request)) as never),
  }
}
