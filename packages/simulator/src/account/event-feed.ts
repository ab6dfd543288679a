/** The events of one account in the order in which they happened, with the result of posting each. */

/**
 * The result of posting an event, as the provider's API shows it. An event that no endpoint subscribes to stays `unposted`. An
 * event is `skipped` if the request that caused it asked for no webhook.
 */
export type Posting = 'unposted' | 'skipped' | 'scheduled' | 'succeeded' | 'failed'

/** A source of events. Every account is an event source. */
export interface EventSource<E> {
  /** Oldest first, each with the objects as they were at its time. */
  events(): readonly E[]
  /** Calls a function with each new event. @returns a function that ends the subscription */
  onEvent(listener: (event: E) => void): () => void
  /** Records the result of posting the event, which the API shows. */
  notePosting(event: E, posting: Posting): void
}

export interface EventFeed<E> extends EventSource<E> {
  emit(event: E): void
  /** Adds an event that can be read but is never posted. */
  keepUnposted(event: E): void
  /** The events that the API showed at a time, in milliseconds since the epoch. */
  asOf(ms: number): readonly E[]
  /** The result of posting an event. */
  postingOf(event: E): Posting
}

/**
 * An empty feed.
 * @param now milliseconds since the epoch
 */
export function createEventFeed<E extends object>(now: () => number): EventFeed<E> {
  const events: E[] = []
  const sinceMs = new WeakMap<E, number>()
  const postings = new WeakMap<E, Posting>()
  const listeners = new Set<(event: E) => void>()
  let lastMs = Number.NEGATIVE_INFINITY
  const keep = (event: E) => {
    events.push(event)
    sinceMs.set(event, now())
    lastMs = Math.max(lastMs, now())
  }
  return {
    emit(event) {
      keep(event)
      for (const listener of listeners) listener(event)
    },
    keepUnposted(event) {
      keep(event)
      postings.set(event, 'skipped')
    },
    events: () => events,
    onEvent(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    notePosting: (event, posting) => void postings.set(event, posting),
    asOf: ms => (lastMs <= ms ? events.slice() : events.filter(event => (sinceMs.get(event) ?? 0) <= ms)),
    postingOf: event => postings.get(event) ?? 'unposted',
  }
}
