import type { AuditChainDocument, AuditDocument, AuditFault } from '@backstop/contracts'
import { type AuditKeys, checkLinkMac, faultOf } from '@backstop/kit/audit'
import type { ReadCollections } from '../../store/stores.ts'
import { placeOf } from './judge-head.ts'
import { rowPages } from './row-pages.ts'

const MOST_OUTSIDE = 20
/**
 * Rows join within seconds, rows of refusals within two minutes. A row that waits longer, or has a time that far ahead, counts as outside of
 * the chain.
 */
const JOINS_WITHIN_MS = 600_000

/** The earliest date. A window from here has every date, and no other value. */
const EARLIEST = new Date(-8.64e15)

interface Outside {
  /** The times between which rows are looked at: `lower` included, `upper` excluded; undefined for no limit. */
  readonly lower: Date | undefined
  readonly upper: Date | undefined
  readonly head: AuditChainDocument | undefined
  readonly keys: AuditKeys
  readonly now: Date
  readonly signal?: AbortSignal | undefined
}

/** Finds rows that have no place in the chain and do not wait for one. */
export async function findOutside(
  { audit }: Pick<ReadCollections, 'audit'>,
  { lower = EARLIEST, upper, head, keys, now, signal }: Outside,
): Promise<AuditFault[]> {
  const found: AuditFault[] = []
  const window = { from: lower, before: upper }
  for await (const rows of rowPages({ audit }, window, signal)) {
    const outside = rows.filter(row => isOutside(row, head?.sequence ?? 0, keys, now))
    found.push(...outside.map(row => faultOf('row_outside', placeOf(row) ?? null, row)))
    if (found.length >= MOST_OUTSIDE) return found.slice(0, MOST_OUTSIDE)
  }
  // A row without a valid time is in no window. It is first or last by time.
  const ends = [true, false].map(oldestFirst => audit.page({ where: {}, by: 'at', oldestFirst, limit: 1 }))
  const timeless = (await Promise.all(ends)).flat().filter(row => !(row.at instanceof Date))
  return [...found, ...timeless.map(row => faultOf('row_outside', null, row))]
}

function isOutside(row: AuditDocument, newestPlace: number, keys: AuditKeys, now: Date): boolean {
  const place = placeOf(row)
  // A row with a valid MAC has joined since the head was read.
  if (place !== undefined) return place > newestPlace && checkLinkMac(row, keys) !== 'valid'
  return !isWaiting(row, now)
}

/** True if the row joins soon. A row that the chain never takes would be listed for ever, and found by nobody. */
function isWaiting({ unchained, sequence, count, at }: AuditDocument, now: Date): boolean {
  const hasJoinableCount = count == null || count >= 1
  const isRecent = at instanceof Date && Math.abs(now.getTime() - at.getTime()) <= JOINS_WITHIN_MS
  return unchained === true && sequence === undefined && hasJoinableCount && isRecent
}
