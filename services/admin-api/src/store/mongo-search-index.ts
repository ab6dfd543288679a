import { type ActionDocument, markOfKey, monthMarks, textOfKey } from '@backstop/contracts'
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

/** One query. */
interface Scan {
  /** The place before its first result. */
  readonly after: SearchPosition | undefined
  readonly filter: object
  /** Bounds of the index that no filter can give. */
  readonly bounds?: { readonly min: object; readonly max: object }
}

/** Before every date that a document can have. */
const EARLIEST = new Date(-8.64e15)

/**
 * Searches in MongoDB. Each query reads ranges of one index in its own order, at most one for each month, and ends with the page.
 */
export function createMongoSearchIndex(db: Db): SearchIndex {
  async function search(collection: 'actions' | 'operations', request: SearchRequest): Promise<StoredHit[]> {
    const { by } = DATES[collection]
    const { prefix, after, limit, signal } = request
    const found: StoredHit[] = []
    const pages = walkPages<Hit, SearchPosition>({
      after,
      // The place itself is found again.
      size: limit + 1,
      laterSize: SKIPPED_AT_ONCE,
      signal,
      withinMs: LIST_WITHIN_MS,
      async read(place, size) {
        const hits: Hit[] = []
        for (const { after, filter, bounds } of scansOf(collection, request, place)) {
          const documents = await runListQuery(() =>
            db
              .collection<StoredHit>(collection)
              .find(filter, {
                ...bounds,
                projection: NOT_SHOWN,
                maxTimeMS: LIST_WITHIN_MS,
                hint: { project_id: 1, search: 1, [by]: -1, _id: -1 },
                limit: size - hits.length,
              })
              .toArray(),
          )
          for (const document of documents) {
            hits.push({ document, key: foundKey(document, new Date(document[by]), prefix, after) })
          }
          if (hits.length === size) break
        }
        return hits
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
    const { projectId, prefix, limit, now } = request
    const search = { $in: monthMarks(now).map(mark => beginningWith(mark + prefix)) }
    const found = await db
      .collection<ActionDocument>('actions')
      .find(
        { project_id: projectId, search, incident_id: { $type: 'string' } },
        { projection: { _id: 0, incident_id: 1 }, maxTimeMS: LIST_WITHIN_MS },
      )
      .hint({ project_id: 1, search: 1, incident_id: -1 })
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

/**
 * The queries of a page, in the order of the results: the rest of the key or month in which the page before ended, then the months after it,
 * first with the prefix itself as key, then with longer ones. MongoDB would sort in memory if a filter named a range within an array, so the
 * first one has bounds of the index.
 */
function scansOf(
  collection: 'actions' | 'operations',
  { projectId, prefix, now }: SearchRequest,
  place: SearchPosition | undefined,
): Scan[] {
  const { by, toStored } = DATES[collection]
  const project_id = projectId
  const marks = monthMarks(now)
  const equalIn = (of: readonly string[]): Scan => ({
    after: place,
    filter: { project_id, search: { $in: of.map(mark => mark + prefix) } },
  })
  const longerIn = (of: readonly string[], after: SearchPosition | undefined): Scan => ({
    after,
    filter: { $or: of.map(mark => ({ project_id, search: { $elemMatch: longerThan(mark + prefix) } })) },
  })
  const afterEqual = { key: prefix, at: EARLIEST, id: '' }
  if (place === undefined) return [equalIn(marks), longerIn(marks, afterEqual)]
  const end = new MaxKey()
  const mark = markOfKey(place.key)
  const isEqual = textOfKey(place.key) === prefix
  // Dates and ids are in descending order, so the highest ones come first.
  const rest: Scan = {
    after: place,
    filter: {},
    bounds: {
      min: { project_id, search: place.key, [by]: toStored(place.at), _id: place.id },
      max: { project_id, search: isEqual ? `${place.key}\0` : `${mark}${prefix}${HIGHEST}`, [by]: end, _id: end },
    },
  }
  const later = marks.slice(marks.indexOf(mark) + 1)
  if (isEqual) return [rest, equalIn(later), longerIn(marks, afterEqual)]
  return later.length === 0 ? [rest] : [rest, longerIn(later, place)]
}

function longerThan(prefix: string): object {
  return { $gt: prefix, $lt: `${prefix}${HIGHEST}` }
}

/** A text without its own meaning in a pattern, so that MongoDB reads one range of the index. */
function beginningWith(text: string): RegExp {
  return new RegExp(`^${text.replaceAll(/[^\p{L}\p{N}\s_]/gu, String.raw`\$&`)}`, 'u')
}
