/** The record of a run: a hash of every event, its lines if somebody will read them, and how often each accident happened. */
export class Trace {
  readonly counts = new Map<string, number>()
  /** The lines so far; empty if nobody will read them. */
  readonly lines: string[] = []
  readonly #now: () => number
  readonly #isKept: boolean
  #hash = 0x811c9dc5

  /**
   * @param now milliseconds since the start of the run
   * @param isKept whether the lines are kept
   */
  constructor(now: () => number, isKept: boolean) {
    this.#now = now
    this.#isKept = isKept
  }

  /** The same for each run of a seed. */
  get hash(): string {
    return this.#hash.toString(16).padStart(8, '0')
  }

  add(text: string): void {
    const line = `${this.#now()} ${text}`
    let hash = this.#hash
    // FNV-1a, in 32 bits: fast, and two runs that differ have the same hash once in four billion times.
    for (let at = 0; at < line.length; at += 1) hash = Math.imul(hash ^ line.charCodeAt(at), 0x01000193)
    this.#hash = hash >>> 0
    if (this.#isKept) this.lines.push(line)
  }

  /** Counts an accident, for the list of those that must happen sometimes. */
  happened(name: string): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1)
    this.add(`* ${name}`)
  }
}
