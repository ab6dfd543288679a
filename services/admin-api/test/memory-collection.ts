import type { Collection, DocumentFilter, StoredDocument } from '../src/store/collection.ts'

/** A collection in memory. */
export interface MemoryCollection<D extends StoredDocument> extends Collection<D> {
  /** @returns a function that restores the documents of this moment */
  remember(): () => void
}

/** Creates a collection in memory for unit tests. Documents are copied when they are stored and read, as by a database. */
export function createMemoryCollection<D extends StoredDocument>(
  uniqueFields: readonly (keyof D & string)[] = [],
): MemoryCollection<D> {
  const held = new Map<string, D>()
  const all = (where: DocumentFilter<D>) => [...held.values()].filter(document => matches(document, where))
  return {
    find: async where => structuredClone(all(where)[0]),

    findAll: async where => all(where).map(document => structuredClone(document)),

    page: async ({ where, by, window, after, limit }) => {
      const at = (document: D) => (document[by] as Date).getTime()
      const from = window?.from?.getTime() ?? Number.NEGATIVE_INFINITY
      const before = window?.before?.getTime() ?? Number.POSITIVE_INFINITY
      return all(where)
        .filter(document => at(document) >= from && at(document) < before)
        .sort((a, b) => at(b) - at(a) || (a._id < b._id ? 1 : -1))
        .filter(document => {
          if (after === undefined) return true
          const age = at(document) - after.at.getTime()
          return age < 0 || (age === 0 && document._id < after.id)
        })
        .slice(0, limit)
        .map(document => structuredClone(document))
    },

    insert: async document => {
      const isTaken = [...held.values()].some(other => uniqueFields.some(field => other[field] === document[field]))
      if (isTaken || held.has(document._id)) return false
      held.set(document._id, structuredClone(document))
      return true
    },

    put: async document => void held.set(document._id, structuredClone(document)),

    change: async (where, fields) => {
      const [document] = all(where)
      if (document === undefined) return undefined
      const changed = { ...document, ...structuredClone(fields) }
      held.set(document._id, changed)
      return structuredClone(changed)
    },

    remove: async where => {
      const [document] = all(where)
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

function matches<D extends StoredDocument>(document: D, where: DocumentFilter<D>): boolean {
  return Object.entries(where).every(([field, wanted]) => {
    if (wanted === undefined) return true
    const value = document[field as keyof D]
    const wantedAnyOf = wanted as { in?: unknown[] } | null
    const options = Array.isArray(wantedAnyOf?.in) ? wantedAnyOf.in : [wanted]
    const values = Array.isArray(value) ? value : [value]
    return values.some(one => options.some(option => isSame(one, option)))
  })
}

function isSame(a: unknown, b: unknown): boolean {
  if (a instanceof Date && b instanceof Date) return a.getTime() === b.getTime()
  return a === b || (a === undefined && b === null)
}
