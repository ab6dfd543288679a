/** Pairs the things of two lists, each with one of the other at most, without comparing all with all. */

/** A pair that may be. */
export interface Pair<S, T> {
  readonly seeker: S
  readonly target: T
}

/**
 * The best pair of all first, then the best of those that are left, and so on. Each seeker asks for its best target and gives
 * way to a better one (deferred acceptance): as seekers and targets rank pairs by one order, that gives the same as sorting
 * every pair, and the pairs that nobody gets to are never made.
 * @param pairsOf the pairs of one seeker, best first
 * @param compare the order of all pairs; it knows no two as equal
 */
export function pairUp<S, T, P extends Pair<S, T>>(
  seekers: readonly S[],
  pairsOf: (seeker: S) => Iterator<P>,
  compare: (a: P, b: P) => number,
): ReadonlyMap<S, P> {
  const held = new Map<T, { pair: P; rest: Iterator<P> }>()
  for (const seeker of seekers) {
    let rest = pairsOf(seeker)
    for (let next = rest.next(); next.done !== true; next = rest.next()) {
      const pair = next.value
      const rival = held.get(pair.target)
      if (rival !== undefined && compare(rival.pair, pair) <= 0) continue
      held.set(pair.target, { pair, rest })
      if (rival === undefined) break
      // The one that was displaced goes on asking in its place.
      rest = rival.rest
    }
  }
  return new Map([...held.values()].map(({ pair }) => [pair.seeker, pair]))
}

/** Something at a time, in milliseconds since the epoch. */
export interface Timed {
  readonly at: number
  /** Orders what is at the same time. */
  readonly name: string
}

export function byTime(a: Timed, b: Timed): number {
  return a.at - b.at || compareText(a.name, b.name)
}

export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/**
 * What lies nearest to a stretch of time first, by name where two are equally near.
 * @param sorted by `byTime`
 */
export function nearestFirst<T extends Timed>(sorted: readonly T[], from: number, to = from): Iterable<T> {
  return sorted.length <= 1 ? sorted : walkOutwards(sorted, from, to)
}

function* walkOutwards<T extends Timed>(sorted: readonly T[], from: number, to: number): Generator<T, void> {
  let later = firstFrom(sorted, from)
  let earlier = later - 1
  const before = () => from - (sorted[earlier]?.at ?? -Infinity)
  const after = () => Math.max(0, (sorted[later]?.at ?? Infinity) - to)
  for (let near = Math.min(before(), after()); near < Infinity; near = Math.min(before(), after())) {
    const alike: T[] = []
    for (; before() === near; earlier -= 1) alike.push(sorted[earlier] as T)
    for (; after() === near; later += 1) alike.push(sorted[later] as T)
    if (alike.length > 1) alike.sort((a, b) => compareText(a.name, b.name))
    yield* alike
  }
}

/** The index of the first that is not before `at`. */
function firstFrom(sorted: readonly Timed[], at: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] as Timed).at < at) low = middle + 1
    else high = middle
  }
  return low
}
