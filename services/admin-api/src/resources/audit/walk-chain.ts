import type { AuditChainDocument, AuditDocument, AuditFault, AuditVerification } from '@backstop/contracts'
import {
  type AuditKeys,
  type ChainContext,
  checkHeadMac,
  checkLinkMac,
  faultOf,
  findFaults,
  type Statement,
  statementOf,
} from '@backstop/kit/audit'
import type { PageRequest } from '../../store/collection.ts'
import type { AdminStores, ReadCollections } from '../../store/stores.ts'
import { stopIfAborted, walkPages } from '../../store/walk-pages.ts'
import { placeOf, readHead } from './read-head.ts'

const ROWS_PER_READ = 500
const ROWS_PER_CALL = 20_000
/** More than rows without gaps need. */
const MOST_READS = 400
/** The most faults in one answer. Further ones are found when these are repaired. */
export const MOST_FAULTS = 20

export interface WalkParts {
  readonly stores: Pick<ReadCollections, 'audit' | 'auditChain' | 'projects'>
  readonly keys: AuditKeys
  /** The newest head that this process has seen. */
  readonly seen: AuditChainDocument | undefined
  readonly now: Date
  /** Ends the walk when the caller disconnects. */
  readonly signal?: AbortSignal | undefined
}

/** Verifies the chain from a row to older ones. @param from undefined to begin with the head */
export async function walkChain(parts: WalkParts, from: number | undefined): Promise<AuditVerification> {
  const { stores, keys, seen, now, signal } = parts
  const found = await readHead(stores, parts)
  const { head } = found
  const newestPlace = await findNewestPlace(stores, head, keys)
  const start = Math.min(from ?? Number.POSITIVE_INFINITY, newestPlace)
  const isFirst = start === newestPlace
  const signedFrom = head?.signed_from ?? seen?.signed_from
  const context: ChainContext = { keys, signedFrom, now }
  const faults: AuditFault[] = isFirst ? findHeadFaults(found, seen) : []
  let above = await findStatementAbove(stores, head, start)
  const upper = isFirst ? undefined : above?.at
  let [verified, unsigned, next, reads] = [0, 0, start, 0]
  let lowest: AuditDocument | undefined
  while (next > 0 && verified < ROWS_PER_CALL && reads++ < MOST_READS && faults.length < MOST_FAULTS) {
    stopIfAborted(signal)
    const rows = await readBelow(stores, next)
    const isOldest = rows.length === 0 ? (await findAnyBelow(stores, next)) === undefined : next <= ROWS_PER_READ
    faults.push(...findFaults({ rows, above, isOldest }, context))
    verified += rows.length
    unsigned += rows.filter(row => row.unsigned === true).length
    lowest = rows[0] ?? lowest
    above = rows[0] ?? above
    next = isOldest ? 0 : next - ROWS_PER_READ
  }
  // The next page continues below a row that is there, so that its step to the row above is checked.
  const lastSequence = lowest?.sequence ?? next + 1
  const isEnd = next <= 0
  const lower = isEnd ? undefined : lowest?.at
  if (faults.length < MOST_FAULTS)
    faults.push(...(await findOutside(stores, { upper, lower, head, keys, now, signal })))
  const shown = faults.slice(0, MOST_FAULTS)
  return {
    state: shown.length === 0 ? 'intact' : 'broken',
    head: head === undefined || head.sequence === 0 ? null : { sequence: head.sequence, hash: head.hash },
    verified,
    first_sequence: lowest?.sequence ?? null,
    broken: shown[0] ?? null,
    faults: shown,
    hashed_until: hashedUntil(signedFrom, newestPlace),
    unsigned,
    next_sequence: isEnd || lastSequence <= 1 ? null : lastSequence - 1,
  }
}

/** The last row without a MAC; null if there is none. */
export function hashedUntil(signedFrom: AuditChainDocument['signed_from'], newestPlace: number): number | null {
  const until = signedFrom === undefined ? newestPlace : signedFrom.sequence - 1
  return until <= 0 ? null : until
}

/** What is wrong with the head. @param beyond rows with a place after it */
export function findHeadFaults(
  { head, beyond, judgement }: Awaited<ReturnType<typeof readHead>>,
  seen: AuditChainDocument | undefined,
): AuditFault[] {
  if (judgement.kind === 'key_unknown') return [faultOf('key_unknown', head?.sequence ?? null)]
  if (judgement.kind !== 'broken') return []
  const newest = Math.max(seen?.sequence ?? 0, ...beyond.map(row => placeOf(row) ?? 0))
  return [faultOf(judgement.reason, judgement.reason === 'head_set_back' ? newest : (head?.sequence ?? null))]
}

/** The place of the newest row: that of the head, unless the head is missing or forged. */
async function findNewestPlace(
  { audit }: WalkParts['stores'],
  head: AuditChainDocument | undefined,
  keys: AuditKeys,
): Promise<number> {
  const stated = head && placeOf(head)
  if (head !== undefined && checkHeadMac(head, keys) === 'valid') return stated ?? 0
  if (stated !== undefined && (await audit.find({ sequence: stated })) !== undefined) return stated
  const newest = await audit.page({ where: {}, by: 'at', limit: ROWS_PER_READ })
  return Math.max(0, ...newest.map(row => placeOf(row) ?? 0))
}

async function findStatementAbove(
  { audit }: WalkParts['stores'],
  head: AuditChainDocument | undefined,
  start: number,
): Promise<Statement | undefined> {
  if (head !== undefined && start === head.sequence) return statementOf(head)
  return audit.find({ sequence: start + 1 })
}

/** The rows with the places up to `next`, oldest first. */
export async function readBelow({ audit }: WalkParts['stores'], next: number): Promise<AuditDocument[]> {
  const rows = await audit.findAll({ sequence: { min: Math.max(1, next - ROWS_PER_READ + 1), max: next } })
  return rows.filter(row => placeOf(row) !== undefined).toSorted((a, b) => (a.sequence ?? 0) - (b.sequence ?? 0))
}

function findAnyBelow({ audit }: WalkParts['stores'], next: number): Promise<AuditDocument | undefined> {
  return audit.find({ sequence: { min: 1, max: next } })
}

const MOST_OUTSIDE = 20
/**
 * Rows join within seconds, after a flood within minutes, and rows of refusals within two minutes. A row that waits longer, or has a time that far ahead, counts as outside of
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

/**
 * Reads the rows of a window page by page, oldest first.
 * @throws AppError `unavailable` when the signal is aborted
 */
export function rowPages(
  { audit }: Pick<ReadCollections, 'audit'>,
  window: PageRequest<AuditDocument>['window'],
  signal?: AbortSignal | undefined,
): AsyncGenerator<readonly AuditDocument[]> {
  return walkPages<AuditDocument, NonNullable<PageRequest<AuditDocument>['after']>>({
    size: ROWS_PER_READ,
    signal,
    read: (after, limit) => audit.page({ where: {}, by: 'at', oldestFirst: true, window, after, limit }),
    placeOf: ({ at, _id }) => ({ at, id: _id }),
  })
}

/**
 * Marks the rows of releases without a chain, so that they join it. Runs once, before the chain gets its first signed head. It reads the
 * whole audit in pages, because no index finds these rows.
 * @returns false if it was stopped before the end
 */
export async function markUnchained(
  { audit }: Pick<AdminStores, 'audit'>,
  isStopping: () => boolean,
): Promise<boolean> {
  for await (const rows of rowPages({ audit }, { from: new Date(0) })) {
    for (const { _id } of rows.filter(row => row.sequence === undefined && row.unchained === undefined)) {
      await audit.change({ _id, sequence: null, unchained: null }, { unchained: true })
    }
    if (isStopping()) return false
  }
  return true
}
