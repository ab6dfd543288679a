import type { ActionDocument } from '@backstop/contracts'
import { LIST_WITHIN_MS, runListQuery } from '@backstop/kit/mongo'
import { type Db, MaxKey } from 'mongodb'
import { foundKey, type SearchIndex, type SearchPosition, type SearchRequest } from './search-index.ts'
import { walkPages } from './walk-pages.ts'

/** The field that sorts the documents of one key, and the form in which it is stored. */
const DATES = {
  actions: { by: 'first_seen', toStored: (at: Date) => at },
  operations: { by: 'created_at', toStored: (at: Date) => at.toISOString() },
} as const

/** After every key that begins with a prefix. */
const HIGHEST = '\u{10ffff}'

/** Documents that are read at once when a page had too few, because many of them were found by another key before. */
const SKIPPED_AT_ONCE = 500
const NOT_SHOWN = { outbox: 0, outbox_at: 0, timer_at: 0, timeline: 0, why: 0 }

interface StoredHit {
  _id: string
  search?: string[]
  // biome-ignore lint/suspicious/noExplicitAny: the field of the date depends on the collection
  [by: string]: any
}

/** A document, and its first key after the place of the page. The document at that place may have none. */
interface Hit {
  readonly document: StoredHit
  readonly key: string | undefined
}

/**
 * Searches in MongoDB. The bounds of the index are given directly (`min` and `max`), because MongoDB would sort in memory if a filter
 * names a range of an array. One scan of the index then gives its own order.
 */
export function createMongoSearchIndex(db: Db): SearchIndex {
  async function search(collection: 'actions' | 'operations', request: SearchRequest): Promise<StoredHit[]> {
    const { by, toStored } = DATES[collection]
    const { projectId, prefix, after, limit, signal } = request
    const end = new MaxKey()
    const found: StoredHit[] = []
    const pages = walkPages<Hit, SearchPosition>({
      after,
      // The place itself is found again.
      size: limit + 1,
      laterSize: SKIPPED_AT_ONCE,
      signal,
      withinMs: LIST_WITHIN_MS,
      async read(place, size) {
        // Dates and ids are in descending order, so the highest ones come first.
        const from =
          place === undefined
            ? { search: prefix, [by]: end, _id: end }
            : { search: place.key, [by]: toStored(place.at), _id: place.id }
        const documents = await runListQuery(() =>
          db
            .collection<StoredHit>(collection)
            .find({}, { projection: NOT_SHOWN, maxTimeMS: LIST_WITHIN_MS })
            .hint({ project_id: 1, search: 1, [by]: -1, _id: -1 })
            .min({ project_id: projectId, ...from })
            .max({ project_id: projectId, search: `${prefix}${HIGHEST}`, [by]: end, _id: end })
            .limit(size)
            .toArray(),
        )
        return documents.map(document => ({ document, key: foundKey(document, new Date(document[by]), prefix, place) }))
      },
      placeOf: ({ document, key }) =>
        key === undefined ? undefined : { key, at: new Date(document[by]), id: document._id },
    })
    for await (const page of pages) {
      for (const { document, key } of page) {
        // A document with several such keys was found before by the first of them.
        if (key !== undefined && foundKey(document, new Date(document[by]), prefix) === key) found.push(document)
      }
      if (found.length >= limit) break
    }
    return found.slice(0, limit)
  }
  async function findIncidentIds(request: Omit<SearchRequest, 'after' | 'signal'>): Promise<string[]> {
    const { projectId, prefix, limit } = request
    const end = new MaxKey()
    const found = await db
      .collection<ActionDocument>('actions')
      .find({ incident_id: { $type: 'string' } }, { projection: { _id: 0, incident_id: 1 }, maxTimeMS: LIST_WITHIN_MS })
      .hint({ project_id: 1, search: 1, incident_id: -1 })
      .min({ project_id: projectId, search: prefix, incident_id: end })
      .max({ project_id: projectId, search: `${prefix}${HIGHEST}`, incident_id: end })
      .limit(limit)
      .toArray()
    return found.flatMap(({ incident_id }) => incident_id ?? [])
  }
  return {
    incidentIds: request => runListQuery(() => findIncidentIds(request)),
    actions: async request => (await search('actions', request)) as never,
    operations: async request => (await search('operations', request)) as never,
  }
}
