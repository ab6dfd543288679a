/**
 * The objects of one type in an account, with all their versions. A read as of an earlier time simulates a replica that lags: a
 * new object is missing, and a changed object has its old values.
 */

/** The objects of one type at one time. */
export interface View<T> {
  get(id: string): T | undefined
  /** All objects, in the order of their creation. */
  all(): readonly T[]
}

export interface ObjectHistory<T extends { id: string }> extends View<T> {
  /** Adds the object, or a new version of it. Earlier reads are not affected. */
  put(object: T): T
  /** The objects as they were at a time, in milliseconds since the epoch. */
  asOf(ms: number): View<T>
}

/**
 * An empty history.
 * @param now milliseconds since the epoch
 */
export function createObjectHistory<T extends { id: string }>(now: () => number): ObjectHistory<T> {
  const versions = new Map<string, { sinceMs: number; object: T }[]>()
  let lastChangeMs = Number.NEGATIVE_INFINITY
  // The list is cached until the next change, because it is read for every page.
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
