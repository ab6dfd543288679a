import type { LiveEvent } from './live-events.ts'

/** Bytes of an event besides its data, about. */
const EVENT_BYTES = 300

/** A limited amount of events that wait to be sent. */
export interface HeldEvents {
  /** @returns false if the limit is reached; then the event is not held */
  add(event: LiveEvent): boolean
  /** Removes the oldest event. */
  take(): LiveEvent | undefined
  clear(): void
}

/** Creates an empty queue of events. */
export function createHeldEvents(maxBytes: number): HeldEvents {
  let events: LiveEvent[] = []
  let bytes = 0
  const sizeOf = ({ data }: LiveEvent) => EVENT_BYTES + data.length
  return {
    add(event) {
      if (bytes + sizeOf(event) > maxBytes) return false
      bytes += sizeOf(event)
      events.push(event)
      return true
    },
    take() {
      const event = events.shift()
      if (event !== undefined) bytes -= sizeOf(event)
      return event
    },
    clear() {
      events = []
      bytes = 0
    },
  }
}
