import type { ReadObject } from '@backstop/contracts'
import type { ListedEvent, SweepCursor, SweepPage } from '../read-back.ts'
import type { Failed } from './failure.ts'

/** One list that a walk goes through, newest first. */
export interface Feed {
  /** Stays the same for good: stored cursors hold it. */
  readonly name: string
  /**
   * Reads one page.
   * @param from what is older than this does not matter, in milliseconds since the epoch
   * @param page null for the first
   */
  read(from: number, page: string | null): Promise<FeedPage | Failed>
}

export interface FeedPage {
  readonly kind: 'page'
  readonly objects: readonly ReadObject[]
  readonly events: readonly ListedEvent[]
  /** Where the next page begins; null when this one reached the end, or what is too old to matter. */
  readonly next: string | null
}

/**
 * How far a walk goes back behind the beginning of the one before it, in milliseconds. What is made while a walk goes on
 * comes before the pages that it has read, or becomes visible late: the next walk sees it. Longer than the ten minutes
 * after which an event counts as not arrived, so that each is listed once more when it is that old.
 */
export const OVERLAP_MS = 15 * 60_000

/**
 * The next page of a walk through feeds, one after another. A walk covers what changed since the walk before it began, less
 * the overlap, so nothing is skipped and some things come twice. A cursor between two walks holds `from` alone; within one,
 * also where it is.
 * @param nowMs milliseconds since the epoch
 */
export async function walk(
  feeds: readonly Feed[],
  cursor: SweepCursor | null,
  since: number,
  nowMs: number,
): Promise<SweepPage> {
  const from = timeIn(cursor?.from) ?? since
  const begun = timeIn(cursor?.begun)
  const at = feeds.findIndex(feed => feed.name === cursor?.feed)
  const isUnderWay = begun !== undefined && at >= 0
  const index = isUnderWay ? at : 0
  const feed = feeds[index]
  const place = { from: String(from), begun: String(isUnderWay ? begun : nowMs) }
  const page = (isUnderWay ? cursor?.page : undefined) ?? null
  if (feed === undefined) return { kind: 'page', objects: [], events: [], cursor: {}, done: true }

  const read = await feed.read(from, page)
  if (read.kind === 'failed') {
    // A place in a list can become unknown to the provider. The list begins anew then, once, rather than never to go on.
    return read.failure === 'question_refused' && page !== null && cursor?.again === undefined
      ? { kind: 'page', objects: [], events: [], cursor: { ...place, feed: feed.name, again: 'yes' }, done: false }
      : read
  }
  const found = { kind: 'page' as const, objects: read.objects, events: read.events }
  if (read.next !== null) {
    const again: SweepCursor = cursor?.again === undefined ? {} : { again: cursor.again }
    return { ...found, cursor: { ...place, feed: feed.name, page: read.next, ...again }, done: false }
  }
  const following = feeds[index + 1]
  return following === undefined
    ? { ...found, cursor: { from: String(Math.max(from, Number(place.begun) - OVERLAP_MS)) }, done: true }
    : { ...found, cursor: { ...place, feed: following.name }, done: false }
}

function timeIn(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}
