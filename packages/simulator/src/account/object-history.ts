/**
 * The objects of one type in an account, with all their versions. A read as of an earlier time simulates a replica that lags: a
 * new object is missing, and a changed object has its old values.
 */

/** The objects of one type at one time. */
export interface View<T> {
  get(id: string): T | undefined
  /** @throws the error that the history was created with, if there is no object with this id */
  existing(id: string): T
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
 * @param missing the error for an object that does not exist
 */
export function createObjectHistory<T extends { id: string }>(
  now: () => number,
  missing = (id: string): Error => new Error(`There is no object ${id}`),
): ObjectHistory<T> {
  const versions = new Map<string, { sinceMs: number; object: T }[]>()
  let lastChangeMs = Number.NEGATIVE_INFINITY
  // The list is cached until the next change, because it is read for every page.
  let gathered: readonly T[] | undefined

  const at = (id: string, ms: number) => versions.get(id)?.findLast(version => version.sinceMs <= ms)?.object
  const all = () => {
    gathered ??= [...versions.values()].flatMap(known => known.at(-1)?.object ?? [])
    return gathered
  }
  const asOf = (ms: number): View<T> => ({
    get: id => at(id, ms),
    existing(id) {
      const object = at(id, ms)
      if (object === undefined) throw missing(id)
      return object
    },
    all: () => (lastChangeMs <= ms ? all() : [...versions.keys()].flatMap(id => at(id, ms) ?? [])),
  })

  return {
    ...asOf(Number.POSITIVE_INFINITY),
    asOf,
    put(object) {
      const known = versions.get(object.id)
      const version = { sinceMs: now(), object }
      if (known === undefined) versions.set(object.id, [version])
      else known.push(version)
      lastChangeMs = Math.max(lastChangeMs, version.sinceMs)
      gathered = undefined
      return object
    },
  }
}
