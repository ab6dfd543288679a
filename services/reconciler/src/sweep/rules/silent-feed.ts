import { isoTime } from '@backstop/contracts'
import type { ListedEvent } from '@backstop/providers'

/** An event that did not arrive within this time after the provider sent it is missing. */
export const LATE_AFTER_MS = 10 * 60_000
/** People may need this long to register a new connection's address at the provider. */
export const SET_UP_WITHIN_MS = 60 * 60_000
/** Limit of stored events that may still arrive. A few are enough to detect a silent feed. */
const MAX_UNSEEN = 500

export interface FeedState {
  /** Events that may still come. */
  readonly unseen: readonly ListedEvent[]
}

export type FeedVerdict =
  /** No listed event shows whether notifications arrive. */
  | { readonly kind: 'unknown'; readonly unseen: readonly ListedEvent[] }
  | { readonly kind: 'works'; readonly unseen: readonly ListedEvent[] }
  | { readonly kind: 'silent'; readonly unseen: readonly ListedEvent[]; readonly missing: readonly ListedEvent[] }

/**
 * Judges whether a connection's notifications arrive, by comparing the provider's list of sent events with the inbox.
 * An event is missing only if it is late in two sweeps, because after an outage of this product it may have arrived and
 * not been processed yet.
 * @param listed the events that this sweep listed
 * @param arrived ids of the listed and unseen events that are in the inbox
 * @param madeAt when the connection was made, in milliseconds since the epoch. Earlier events were sent to another
 * address
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

/** A text for people about the missing events: their number, types, and the time of the first. */
export function describeMissing(missing: readonly ListedEvent[]): string {
  const types = [...new Set(missing.map(event => event.eventType))].sort()
  const named = types.length > 3 ? `${types.slice(0, 3).join(', ')} and ${types.length - 3} more` : types.join(', ')
  const first = Math.min(...missing.map(event => event.createdAt))
  return (
    `the provider lists ${missing.length} ${missing.length === 1 ? 'notification' : 'notifications'} (${named}) that did not arrive, ` +
    `the first of ${isoTime(first)}`
  )
}
