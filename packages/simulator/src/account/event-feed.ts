/** The events of one account in the order in which they happened, and what became of posting each. */

/**
 * What the provider believes about the posting of an event. One that nobody subscribed to stays `unposted`; one that
 * its maker did not want posted is `skipped`.
 */
export type Posting = 'unposted' | 'skipped' | 'scheduled' | 'succeeded' | 'failed'

/** Where events come from: every account is one. */
export interface EventSource<E> {
  /** Oldest first. Each is the account's state as it was then. */
  events(): readonly E[]
  /** Calls back with each event from now on; the answer ends that. */
  onEvent(listener: (event: E) => void): () => void
  /** What became of posting the event: whoever posts the account's events says so, and the API tells it. */
  notePosting(event: E, posting: Posting): void
}

export interface EventFeed<E> extends EventSource<E> {
  emit(event: E): void
  /** Keeps an event that is to be read but never posted. */
  keepUnposted(event: E): void
  /** The events that could be read at that time, in milliseconds since the epoch. */
  asOf(ms: number): readonly E[]
  /** What is known of the posting of an event. */
  postingOf(event: E): Posting
}

/**
 * A feed without events.
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
