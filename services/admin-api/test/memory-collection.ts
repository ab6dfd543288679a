import { BSON } from 'mongodb'
import {
  BATCH_SIZE,
  type Collection,
  type DocumentFilter,
  type Range,
  type StoredDocument,
} from '../src/store/collection.ts'
import { isOther, isRange } from '../src/store/mongo-collection.ts'

/** A collection in memory. */
export interface MemoryCollection<D extends StoredDocument> extends Collection<D> {
  /** @returns a function that restores the documents of this moment */
  remember(): () => void
}

interface ListPlace {
  readonly at: number
  readonly id: string
}

/** Creates a collection in memory for unit tests. Documents are copied when they are stored and read, as by a database. */
export function createMemoryCollection<D extends StoredDocument>(
  uniqueFields: readonly (keyof D & string)[] = [],
  onChange: (id: string) => void = () => {},
): MemoryCollection<D> {
  const held = new Map<string, D>()
  function* each(where: DocumentFilter<D>): Generator<D> {
    const tests = testsOf(where)
    // Most filters have the id. Looking at all documents for each of them would take most of the time of the tests.
    const only = typeof where._id === 'string' ? held.get(where._id) : undefined
    const candidates = typeof where._id !== 'string' ? held.values() : only === undefined ? [] : [only]
    for (const document of candidates) if (tests.every(isMatch => isMatch(document))) yield document
  }
  const first = (where: DocumentFilter<D>): D | undefined => each(where).next().value
  const all = (where: DocumentFilter<D>) => [...each(where)]
  return {
    find: async where => structuredClone(first(where)),

    findAll: async where => all(where).map(document => structuredClone(document)),

    page: async ({ where, by, oldestFirst = false, window, after, limit, maxBytes = Number.POSITIVE_INFINITY }) => {
      // NaN is in no window: a document without the date is not listed.
      const at = (document: D) => (document[by] as Date | null | undefined)?.getTime() ?? Number.NaN
      const from = window?.from?.getTime() ?? Number.NEGATIVE_INFINITY
      const before = window?.before?.getTime() ?? Number.POSITIVE_INFINITY
      const newestFirst = (a: ListPlace, b: ListPlace) => b.at - a.at || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0)
      const order = (a: ListPlace, b: ListPlace) => (oldestFirst ? newestFirst(b, a) : newestFirst(a, b))
      const placeOf = (document: D) => ({ at: at(document), id: document._id })
      return all(where)
        .filter(document => at(document) >= from && at(document) < before)
        .filter(document => BSON.calculateObjectSize(document) <= maxBytes)
        .sort((a, b) => order(placeOf(a), placeOf(b)))
        .filter(
          document => after === undefined || order(placeOf(document), { at: after.at.getTime(), id: after.id }) > 0,
        )
        .slice(0, limit)
        .map(document => structuredClone(document))
    },

    async *batches(where, fields) {
      const found = all(where)
      for (let at = 0; at < found.length; at += BATCH_SIZE) {
        yield found.slice(at, at + BATCH_SIZE).map(document => {
          const names = (['_id', ...fields] as const).filter(name => document[name] !== undefined)
          const picked = Object.fromEntries(names.map(name => [name, structuredClone(document[name])]))
          return picked as Pick<D, (typeof fields)[number] | '_id'>
        })
      }
    },

    insert: async document => {
      const others = uniqueFields.length === 0 ? [] : [...held.values()]
      const isTaken = others.some(other => uniqueFields.some(field => other[field] === document[field]))
      if (isTaken || held.has(document._id)) return false
      held.set(document._id, structuredClone(document))
      onChange(document._id)
      return true
    },

    put: async document => {
      held.set(document._id, structuredClone(document))
      onChange(document._id)
    },

    putAll: async documents => {
      for (const document of documents) {
        held.set(document._id, structuredClone(document))
        onChange(document._id)
      }
    },

    change: async (where, fields) => {
      const document = first(where)
      if (document === undefined) return undefined
      const changed = { ...document, ...structuredClone(fields) }
      held.set(document._id, changed)
      onChange(document._id)
      return structuredClone(changed)
    },

    remove: async where => {
      const document = first(where)
      if (document !== undefined) held.delete(document._id)
    },

    remember() {
      const before = [...held]
      return () => {
        held.clear()
        for (const [id, document] of before) held.set(id, document)
      }
    },
  }
}

/** A test for each field of the filter. */
function testsOf<D extends StoredDocument>(where: DocumentFilter<D>): ((document: D) => boolean)[] {
  return Object.entries(where)
    .filter(([, wanted]) => wanted !== undefined)
    .map(([field, wanted]) => {
      const isMatch = valueTestOf(wanted)
      return document => isMatch(document[field as keyof D])
    })
}

function valueTestOf(wanted: unknown): (value: unknown) => boolean {
  if (isRange(wanted)) return value => isWithin(value, wanted)
  if (isOther(wanted)) return value => !isSame(value, wanted.not)
  const wantedAnyOf = wanted as { in?: unknown[] } | null
  const options = Array.isArray(wantedAnyOf?.in) ? wantedAnyOf.in : [wanted]
  const isOption = (one: unknown) => options.some(option => isSame(one, option))
  return value => (Array.isArray(value) ? value.some(isOption) : isOption(value))
}

/** Like MongoDB: a value of another type, or none, is not within a range. */
function isWithin(value: unknown, { min, max }: Range<unknown>): boolean {
  const example = min ?? max
  const isComparable =
    typeof value === typeof example && value !== null && value instanceof Date === example instanceof Date
  if (!isComparable || example === undefined) return false
  const [at, from, to] = [value, min, max] as [number, number | undefined, number | undefined]
  return (from === undefined || at >= from) && (to === undefined || at <= to)
}

function isSame(a: unknown, b: unknown): boolean {
  if (a instanceof Date && b instanceof Date) return a.getTime() === b.getTime()
  return a === b || (a === undefined && b === null)
}
