/** The record of a run: a hash of every event, its lines if they are kept, and how often each accident happened. */
export class Trace {
  readonly counts = new Map<string, number>()
  /** The events without details, and all events; empty unless they are kept. */
  readonly story: string[] = []
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

  /** An event that people read in the story of a run. */
  add(text: string): void {
    if (this.#isKept) this.story.push(`${timeOf(this.#now())} ${text}`)
    this.detail(text)
  }

  /** An event of which there are very many, such as a command of a process to a server. */
  detail(text: string): void {
    const line = `${timeOf(this.#now())} ${text}`
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

/** `02:03.456` from milliseconds. */
export function timeOf(ms: number): string {
  const two = (value: number) => String(value).padStart(2, '0')
  const [minutes, seconds] = [Math.floor(ms / 60_000), Math.floor(ms / 1_000) % 60]
  return `${two(minutes)}:${two(seconds)}.${String(ms % 1_000).padStart(3, '0')}`
}
