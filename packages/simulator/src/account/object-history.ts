/**
 * The objects of one kind that an account keeps, each with the times of its changes. Reading as of an earlier time is
 * what a caller of a real API gets when the copy that answers it lags behind: a new object is not there yet, a changed
 * one still looks as before.
 */

/** What can be read of one kind of object, at one time. */
export interface View<T> {
  get(id: string): T | undefined
  /** In the order in which they were made. */
  all(): readonly T[]
}

export interface Shelf<T extends { id: string }> extends View<T> {
  /** Keeps the object as it is now; what was read of it before stays as it was. */
  put(object: T): T
  /** The objects as they stood at that time, in milliseconds since the epoch. */
  asOf(ms: number): View<T>
}

/**
 * An empty shelf.
 * @param now milliseconds since the epoch
 */
export function createShelf<T extends { id: string }>(now: () => number): Shelf<T> {
  const versions = new Map<string, { sinceMs: number; object: T }[]>()
  let lastChangeMs = Number.NEGATIVE_INFINITY
  // Lists are read page by page: between two changes they need not be gathered anew.
  let gathered: readonly T[] | undefined

  const at = (id: string, ms: number) => versions.get(id)?.findLast(version => version.sinceMs <= ms)?.object
  const all = () => {
    gathered ??= [...versions.values()].flatMap(known => known.at(-1)?.object ?? [])
    return gathered
  }

  return {
    put(object) {
      const known = versions.get(object.id)
      const version = { sinceMs: now(), object }
      if (known === undefined) versions.set(object.id, [version])
      else known.push(version)
      lastChangeMs = Math.max(lastChangeMs, version.sinceMs)
      gathered = undefined
      return object
    },
    get: id => versions.get(id)?.at(-1)?.object,
    all,
    asOf: ms => ({
      get: id => at(id, ms),
      all: () => (lastChangeMs <= ms ? all() : [...versions.keys()].flatMap(id => at(id, ms) ?? [])),
    }),
  }
}
