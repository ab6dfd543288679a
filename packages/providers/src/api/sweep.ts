import type { ReadObject } from '@backstop/contracts'
import type { ListedEvent, SweepCursor, SweepPage } from '../read-back.ts'
import type { Failed } from './failure.ts'

/** One list of a sweep, newest first. */
export interface Feed {
  /** The name in stored cursors, so it must not change. */
  readonly name: string
  /**
   * Reads one page.
   * @param from milliseconds since the epoch: older items are not needed
   * @param page the start of the page; null for the first page
   */
  read(from: number, page: string | null): Promise<FeedPage | Failed>
}

/** One page of a feed. */
interface FeedPage {
  readonly kind: 'page'
  readonly objects: readonly ReadObject[]
  readonly events: readonly ListedEvent[]
  /** The start of the next page; null after the last page, or if the following items are too old. */
  readonly next: string | null
}

/**
 * Milliseconds by which a sweep starts before the beginning of the previous sweep. Objects that were created during the previous
 * sweep, or became visible late, may not be on its pages. The overlap is longer than ten minutes, so that each event is listed
 * again at the age at which it is reported as not arrived.
 */
export const SWEEP_OVERLAP_MS = 15 * 60_000

/**
 * Reads the next page of a sweep through the feeds, one feed after another. A sweep covers changes since the previous sweep began,
 * and the overlap, so nothing is skipped and some objects are read twice. Between two sweeps a cursor holds only `from`; during
 * a sweep it also holds the position.
 * @param nowMs milliseconds since the epoch
 */
export async function readSweepPage(
  feeds: readonly Feed[],
  cursor: SweepCursor | null,
  since: number,
  nowMs: number,
): Promise<SweepPage> {
  const from = timeIn(cursor?.from) ?? since
  const begun = timeIn(cursor?.begun)
  const at = feeds.findIndex(feed => feed.name === cursor?.feed)
  const isResumed = begun !== undefined && at >= 0
  const index = isResumed ? at : 0
  const feed = feeds[index]
  const place = { from: String(from), begun: String(isResumed ? begun : nowMs) }
  const page = (isResumed ? cursor?.page : undefined) ?? null
  if (feed === undefined) return { kind: 'page', objects: [], events: [], cursor: {}, done: true }

  const read = await feed.read(from, page)
  if (read.kind === 'failed') {
    // The provider may not know a page, for example after a deletion. The list is then read from its start, once.
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
  const readUntil = Math.max(from, Number(place.begun) - SWEEP_OVERLAP_MS)
  return following === undefined
    ? { ...found, cursor: { from: String(readUntil) }, done: true, readUntil }
    : { ...found, cursor: { ...place, feed: following.name }, done: false }
}

function timeIn(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}
