/**
 * Pairs the entries of two lists, each with at most one entry of the other list, without comparing all entries with
 * all.
 */

/** A possible pair. */
export interface Pair<S, T> {
  readonly seeker: S
  readonly target: T
}

/**
 * Chooses the best pair of all, then the best of the remaining entries, and so on. Each seeker asks for its best target
 * and is displaced by a better seeker (deferred acceptance). Because seekers and targets rank pairs by one order, the
 * result is the same as sorting all pairs, and most pairs are never built.
 * @param pairsOf the pairs of one seeker, best first
 * @param compare a strict order of all pairs, without ties
 */
export function pairBestFirst<S, T, P extends Pair<S, T>>(
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
      // The displaced seeker asks for its next target.
      rest = rival.rest
    }
  }
  return new Map([...held.values()].map(({ pair }) => [pair.seeker, pair]))
}

/**
 * Pairs entries that are added one after another. The result is the same as that of `pairBestFirst`, in any order of adding,
 * because seekers and targets rank pairs by one order and so only one stable pairing exists.
 */
export class IncrementalPairing<S, T, P extends Pair<S, T>> {
  readonly #compare: (a: P, b: P) => number
  readonly #bySeeker = new Map<S, P>()
  readonly #byTarget = new Map<T, P>()

  /** @param compare a strict order of all pairs, without ties */
  constructor(compare: (a: P, b: P) => number) {
    this.#compare = compare
  }

  targetOf(seeker: S): T | undefined {
    return this.#bySeeker.get(seeker)?.target
  }

  hasTarget(target: T): boolean {
    return this.#byTarget.has(target)
  }

  /** @param pairsOf the pairs of a seeker with the targets added so far, best first */
  addSeeker(seeker: S, pairsOf: (seeker: S) => Iterable<P>): void {
    for (let lost = this.#placeBestPair(pairsOf(seeker)); lost !== undefined; )
      lost = this.#placeBestPair(pairsOf(lost.seeker))
  }

  /** @param pairsOf the pairs of a target with the seekers added so far, best first */
  addTarget(target: T, pairsOf: (target: T) => Iterable<P>): void {
    for (let lost = this.#placeBestPair(pairsOf(target)); lost !== undefined; )
      lost = this.#placeBestPair(pairsOf(lost.target))
  }

  /**
   * Makes the best possible pair of an entry that has none.
   * @returns the pair that was replaced, one side of which has no pair now; undefined if none was
   */
  #placeBestPair(pairs: Iterable<P>): P | undefined {
    for (const pair of pairs) {
      const rival = this.#bySeeker.get(pair.seeker) ?? this.#byTarget.get(pair.target)
      if (rival !== undefined) {
        if (this.#compare(rival, pair) <= 0) continue
        this.#bySeeker.delete(rival.seeker)
        this.#byTarget.delete(rival.target)
      }
      this.#bySeeker.set(pair.seeker, pair)
      this.#byTarget.set(pair.target, pair)
      return rival
    }
    return undefined
  }
}

/** An entry with a time, in milliseconds since the epoch. */
export interface Timed {
  readonly at: number
  /** Orders entries with the same time. */
  readonly name: string
}

export function byTime(a: Timed, b: Timed): number {
  return a.at - b.at || compareText(a.name, b.name)
}

export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/**
 * The entries nearest to a time span first, ordered by name if they are equally near.
 * @param sorted by `byTime`
 */
export function nearestFirst<T extends Timed>(sorted: readonly T[], from: number, to = from): Iterable<T> {
  return sorted.length <= 1 ? sorted : walkOutwards(sorted, from, to)
}

function* walkOutwards<T extends Timed>(sorted: readonly T[], from: number, to: number): Generator<T, void> {
  let later = indexOfFirstFrom(sorted, from)
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

/** The index of the first entry that is not before `at`. */
function indexOfFirstFrom(sorted: readonly Timed[], at: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] as Timed).at < at) low = middle + 1
    else high = middle
  }
  return low
}

/** Inserts an entry into a list that is sorted by `byTime`. */
export function insertByTime<T extends Timed>(sorted: T[], entry: T): void {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (byTime(sorted[middle] as T, entry) < 0) low = middle + 1
    else high = middle
  }
  sorted.splice(low, 0, entry)
}
