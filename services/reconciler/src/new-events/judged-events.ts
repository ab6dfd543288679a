import type { Received } from '@backstop/kit/consume'

type Event = Received<'inbound-event'>

/** About 150 bytes each. Beyond it the oldest is forgotten, and judged again as a repeat. */
const MAX_EVENTS = 100_000

/**
 * The events that the lane of this process has judged. A place alone would not name an event: a broker that lost its last messages gives their
 * offsets to others.
 */
export class JudgedEvents {
  readonly #names = new Set<string>()

  add(event: Event): void {
    this.#names.add(nameOf(event))
    if (this.#names.size <= MAX_EVENTS) return
    for (const oldest of this.#names) {
      this.#names.delete(oldest)
      return
    }
  }

  /** Forgets the event. @returns false if the lane of this process has not judged it */
  take(event: Event): boolean {
    return this.#names.delete(nameOf(event))
  }
}

function nameOf({ topic, partition, offset, timestampMs, message: { connection_id, event_id } }: Event): string {
  return [topic, partition, offset, timestampMs, connection_id, event_id].join('/')
}
