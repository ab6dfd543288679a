import { isoTime } from '@backstop/contracts'
import type { ListedEvent } from '@backstop/providers'

/** An event that the provider sent and that did not come within this time is missing. */
export const LATE_AFTER_MS = 10 * 60_000
/** A person needs that long until the provider's endpoint points to a new connection. */
export const SET_UP_WITHIN_MS = 60 * 60_000
/** What is kept of events that may still come: a feed that is silent is told by a few. */
const MAX_UNSEEN = 500

export interface FeedState {
  /** Events that may still come. */
  readonly unseen: readonly ListedEvent[]
}

export type FeedVerdict =
  /** Nothing was listed that could tell. */
  | { readonly kind: 'unknown'; readonly unseen: readonly ListedEvent[] }
  | { readonly kind: 'works'; readonly unseen: readonly ListedEvent[] }
  | { readonly kind: 'silent'; readonly unseen: readonly ListedEvent[]; readonly missing: readonly ListedEvent[] }

/**
 * Whether a connection's notifications arrive, from what its provider says it sent. One that is late when it is first listed
 * is given until the next sweep: after an outage of our own it may be here, and not processed yet.
 * @param listed what the sweep listed now
 * @param arrived ids of those, and of the unseen ones, that are in the inbox
 * @param madeAt when the connection was made: what was sent before its address was entered at the provider went elsewhere
 */
export function judgeFeed(
  before: FeedState,
  listed: readonly ListedEvent[],
  arrived: ReadonlySet<string>,
  madeAt: number,
  now: number,
): FeedVerdict {
  const candidates = new Map([...before.unseen, ...listed].map(event => [event.eventId, event]))
  const relevant = [...candidates.values()].filter(event => event.createdAt >= madeAt + SET_UP_WITHIN_MS)
  const open = relevant.filter(event => !arrived.has(event.eventId))
  const late = open.filter(event => now - event.createdAt >= LATE_AFTER_MS)
  const listedBefore = new Set(before.unseen.map(event => event.eventId))
  const missing = late.filter(event => listedBefore.has(event.eventId))
  const unseen = open.filter(event => !missing.includes(event)).slice(-MAX_UNSEEN)
  if (missing.length > 0) return { kind: 'silent', unseen, missing }
  return { kind: late.length === 0 && relevant.length > open.length ? 'works' : 'unknown', unseen }
}

/** What is missing, for a person: how much, of which types, since when. */
export function describeMissing(missing: readonly ListedEvent[]): string {
  const types = [...new Set(missing.map(event => event.eventType))].sort()
  const named = types.length > 3 ? `${types.slice(0, 3).join(', ')} and ${types.length - 3} more` : types.join(', ')
  const first = Math.min(...missing.map(event => event.createdAt))
  return (
    `the provider lists ${missing.length} event(s) (${named}) that never arrived, the first of ${isoTime(first)}. ` +
    "Check that the provider's notification endpoint is enabled, points to this connection's inbound_url and has these events"
  )
}
