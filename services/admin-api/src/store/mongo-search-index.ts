import { type ActionDocument, markOfKey, monthMarks, textOfKey } from '@backstop/contracts'
import { LIST_WITHIN_MS, runListQuery } from '@backstop/kit/mongo'
import { type Collection, type Db, type FindCursor, MaxKey } from 'mongodb'
import { foundKey, type SearchIndex, type SearchPosition, type SearchRequest } from './search-index.ts'
import { walkPages } from './walk-pages.ts'

/** The field that sorts the documents of one key, and the form in which it is stored. */
const DATES = {
  actions: { by: 'first_seen', toStored: (at: Date) => at },
  operations: { by: 'created_at', toStored: (at: Date) => at.toISOString() },
} as const
type Searched = keyof typeof DATES

/** After every key that begins with a prefix. */
const HIGHEST = '\u{10ffff}'

/** Documents that are read at once when a page had too few, because many of them were found by another key before. */
const SKIPPED_AT_ONCE = 500
const NOT_SHOWN = { outbox: 0, outbox_at: 0, timer_at: 0, timeline: 0, why: 0 }
/** Before every date that a document can have. */
const EARLIEST = new Date(-8.64e15)

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

/** Makes the query of one part of a page, without its limit. */
type Query = (hits: Collection<StoredHit>) => FindCursor<StoredHit>

/** Searches in MongoDB: first the documents with the prefix itself as key, then the longer keys of each month, the newest first. */
export function createMongoSearchIndex(db: Db): SearchIndex {
  return {
    incidentIds: request => runListQuery(() => findIncidentIds(db, request)),
    actions: async request => (await search(db, 'actions', request)) as never,
    operations: async request => (await search(db, 'operations', request)) as never,
    async newestOfRuns(projectId, runIds) {
      const newest = runIds.map(run_id =>
        read(db, 'operations', 1, hits =>
          hits.find({ run_id, project_id: projectId }).sort({ created_at: -1, _id: -1 }),
        ),
      )
      return new Set((await Promise.all(newest)).flat().map(({ _id }) => _id))
    },
  }
}

async function search(db: Db, collection: Searched, request: SearchRequest): Promise<StoredHit[]> {
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
    read: (place, size) => readPage(db, collection, request, place, size),
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

async function readPage(
  db: Db,
  collection: Searched,
  request: SearchRequest,
  place: SearchPosition | undefined,
  size: number,
): Promise<Hit[]> {
  const { by } = DATES[collection]
  const { prefix, now } = request
  const toHit = (after: SearchPosition | undefined) => (document: StoredHit) => ({
    document,
    key: foundKey(document, new Date(document[by]), prefix, after),
  })
  const isLonger = place !== undefined && textOfKey(place.key) !== prefix
  const begin = isLonger ? restOfMonth(collection, request, place) : equalKeys(collection, request, place)
  const hits = (await read(db, collection, size, begin)).map(toHit(place))
  const marks = monthMarks(now)
  const later = isLonger ? marks.slice(marks.indexOf(markOfKey(place.key)) + 1) : marks
  if (hits.length < size && later.length > 0) {
    const after = isLonger ? place : { key: prefix, at: EARLIEST, id: '' }
    const longer = await read(db, collection, size - hits.length, longerKeys(collection, request, later))
    hits.push(...longer.map(toHit(after)))
  }
  return hits
}

function read(db: Db, collection: Searched, size: number, query: Query): Promise<StoredHit[]> {
  const hits = db.collection<StoredHit>(collection)
  return runListQuery(() => query(hits).project<StoredHit>(NOT_SHOWN).maxTimeMS(LIST_WITHIN_MS).limit(size).toArray())
}

function indexOf(collection: Searched) {
  return { project_id: 1, search: 1, [DATES[collection].by]: -1, _id: -1 } as const
}

function equalKeys(
  collection: Searched,
  { projectId, prefix, now }: SearchRequest,
  place: SearchPosition | undefined,
): Query {
  const { by, toStored } = DATES[collection]
  const at = place && toStored(place.at)
  const older = place && { $or: [{ [by]: { $lt: at } }, { [by]: at, _id: { $lt: place.id } }] }
  const search = { $in: monthMarks(now).map(mark => mark + prefix) }
  return hits =>
    hits
      .find({ project_id: projectId, search, ...older })
      .hint(indexOf(collection))
      .sort({ [by]: -1, _id: -1 })
}

/**
 * The longer keys of the month in which the page before ended. The bounds of the index are given directly, because no filter can name a place
 * within the documents of one key.
 */
function restOfMonth(
  collection: Searched,
  { projectId: project_id, prefix }: SearchRequest,
  { key, at, id }: SearchPosition,
): Query {
  const { by, toStored } = DATES[collection]
  // Dates and ids are in descending order, so the highest ones come first.
  const first = new MaxKey()
  return hits =>
    hits
      .find({})
      .hint(indexOf(collection))
      .min({ project_id, search: key, [by]: toStored(at), _id: id })
      .max({ project_id, search: `${markOfKey(key)}${prefix}${HIGHEST}`, [by]: first, _id: first })
}

/**
 * The longer keys of some months. MongoDB reads the branches of `$or` one after the other, so the months stay in order. One condition with
 * all months could not leave out the equal keys, which may be many, and with a query for each month searches at 100 a second were 300 times as slow.
 */
function longerKeys(
  collection: Searched,
  { projectId: project_id, prefix }: SearchRequest,
  marks: readonly string[],
): Query {
  const ofMonths = marks.map(mark => ({
    project_id,
    search: { $elemMatch: { $gt: mark + prefix, $lt: `${mark}${prefix}${HIGHEST}` } },
  }))
  return hits => hits.find({ $or: ofMonths }).hint(indexOf(collection))
}

async function findIncidentIds(db: Db, request: Omit<SearchRequest, 'after' | 'signal'>): Promise<string[]> {
  const { projectId, prefix, limit, now } = request
  const ofMonths = monthMarks(now).map(mark => ({
    project_id: projectId,
    search: { $elemMatch: { $gte: mark + prefix, $lt: `${mark}${prefix}${HIGHEST}` } },
    incident_id: { $type: 'string' },
  }))
  const found = await db
    .collection<ActionDocument>('actions')
    .find({ $or: ofMonths } as object, { projection: { _id: 0, incident_id: 1 }, maxTimeMS: LIST_WITHIN_MS })
    .hint({ project_id: 1, search: 1, incident_id: -1 })
    .limit(limit)
    .toArray()
  return found.flatMap(({ incident_id }) => incident_id ?? [])
}
