import { settle } from './turns.ts'

interface Event {
  readonly atMs: number
  readonly order: number
  act: (() => void) | undefined
}

/** Virtual time: events in their order, each with everything that it causes without time. */
export class Scheduler {
  readonly #heap: Event[] = []
  #now: number
  #order = 0
  #count = 0

  /** @param startMs milliseconds since the epoch */
  constructor(startMs: number) {
    this.#now = startMs
  }

  get now(): number {
    return this.#now
  }

  /** The number of events so far. */
  get count(): number {
    return this.#count
  }

  /**
   * Calls `act` after a delay in milliseconds; calls of the same time in the order in which they were scheduled. The time stays whole, as
   * clocks of the product are. @returns a function that cancels it
   */
  schedule(delayMs: number, act: () => void): () => void {
    const event: Event = { atMs: this.#now + Math.max(0, Math.ceil(delayMs)), order: this.#order++, act }
    this.#push(event)
    return () => {
      event.act = undefined
    }
  }

  /** Runs all events up to a time. */
  async runUntil(untilMs: number): Promise<void> {
    await settle()
    for (let event = this.#heap[0]; event !== undefined && event.atMs <= untilMs; event = this.#heap[0]) {
      this.#pop()
      if (event.act === undefined) continue
      this.#now = event.atMs
      this.#count += 1
      event.act()
      await settle()
    }
    this.#now = Math.max(this.#now, untilMs)
  }

  #push(event: Event): void {
    const heap = this.#heap
    let at = heap.push(event) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!isBefore(event, heap[parent]!)) break
      heap[at] = heap[parent]!
      at = parent
    }
    heap[at] = event
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1
      if (!isBefore(heap[child]!, last)) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = last
  }
}

function isBefore(one: Event, other: Event): boolean {
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order)
}
