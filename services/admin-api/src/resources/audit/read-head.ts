import { type AuditChainDocument, type AuditDocument, type AuditFaultReason, HEARTBEAT } from '@backstop/contracts'
import {
  type AuditKeys,
  type ChainEnd,
  checkHeadMac,
  checkLinkMac,
  EMPTY_CHAIN,
  endAfter,
  mayBeExpired,
} from '@backstop/kit/audit'
import type { ReadCollections } from '../../store/stores.ts'

/** The newest row of the chain is among these newest rows of the audit, although rows may join in another order than their times. */
export const NEWEST_ROWS = 500

type Collections = Pick<ReadCollections, 'audit' | 'auditChain' | 'projects'>

/** Reads the head of the chain and judges it. @param seen the newest head that this process has seen */
export async function readHead(
  collections: Collections,
  { seen, keys, now }: { readonly seen: AuditChainDocument | undefined; readonly keys: AuditKeys; readonly now: Date },
): Promise<{
  readonly head: AuditChainDocument | undefined
  readonly beyond: readonly AuditDocument[]
  readonly judgement: HeadJudgement
}> {
  const head = await collections.auditChain.find({ _id: 'head' })
  const beyond = await findBeyond(collections, head)
  const judgement = judgeHead({ head, seen, beyond, ...(await readNewest(collections, head, now)) }, keys)
  return { head, beyond, judgement }
}

/** Finds rows with a place after the end. Without a head, one row is enough to know that there are some. */
export async function findBeyond(
  { audit }: Pick<Collections, 'audit'>,
  end: ChainEnd | undefined,
): Promise<AuditDocument[]> {
  if (end !== undefined) {
    return audit.findAll({ sequence: { min: end.sequence + 1, max: end.sequence + NEWEST_ROWS } })
  }
  const row = await audit.find({ sequence: { min: 1 } })
  return row === undefined ? [] : [row]
}

/** Reads what a head without a MAC is judged by. */
async function readNewest({ audit, projects }: Collections, head: AuditChainDocument | undefined, now: Date) {
  if (head?.mac !== undefined) return { areNewestSigned: true, isEmptied: false }
  const newest = await audit.page({ where: {}, by: 'at', limit: NEWEST_ROWS })
  const areNewestSigned = newest.some(row => row.chained_at !== undefined)
  if (head !== undefined) return { areNewestSigned, isEmptied: false }
  const [oldest] = await audit.page({ where: {}, by: 'at', oldestFirst: true, limit: 1 })
  // The project of the heartbeat is created without a row.
  const made = { where: { _id: { not: HEARTBEAT.projectId } }, by: 'created_at', oldestFirst: true, limit: 1 } as const
  const [project] = await projects.page(made)
  const isEmptied = project !== undefined && isWithoutRow(project.created_at, oldest?.at ?? now, now)
  return { areNewestSigned, isEmptied }
}

const MINUTE_MS = 60_000

/** True if a project is older than the whole audit, although the row of its creation has not expired. */
function isWithoutRow(created: Date, oldestRow: Date, now: Date): boolean {
  return created.getTime() < oldestRow.getTime() - MINUTE_MS && !mayBeExpired(created, now)
}

/** What is stored about the end of the chain. */
export interface FoundEnd {
  readonly head: AuditChainDocument | undefined
  /** The newest head that this process has seen; undefined after a start. */
  readonly seen: AuditChainDocument | undefined
  /** Rows with a place after that of the head. */
  readonly beyond: readonly AuditDocument[]
  /** Whether the newest rows joined the chain with a MAC; false if there are none. */
  readonly areNewestSigned: boolean
  /** True if a project is older than the whole audit. Nobody can create one without a row. */
  readonly isEmptied: boolean
}

export type HeadJudgement =
  | { readonly kind: 'valid'; readonly head: AuditChainDocument }
  /** The chain of a release before 0.3.0, or none: it gets a signed head when all its rows are linked. */
  | { readonly kind: 'unsigned'; readonly end: ChainEnd }
  | { readonly kind: 'key_unknown' }
  | {
      readonly kind: 'broken'
      readonly reason: Extract<AuditFaultReason, 'head_missing' | 'head_changed' | 'head_set_back'>
    }

/** Decides whether the chain may continue after its stored head. */
export function judgeHead(
  { head, seen, beyond, areNewestSigned, isEmptied }: FoundEnd,
  keys: AuditKeys,
): HeadJudgement {
  if (head === undefined) {
    const isNew = seen === undefined && beyond.length === 0 && !isEmptied
    return isNew ? { kind: 'unsigned', end: EMPTY_CHAIN } : { kind: 'broken', reason: 'head_missing' }
  }
  const mac = checkHeadMac(head, keys)
  if (mac === 'unknown_key') return { kind: 'key_unknown' }
  if (mac === 'missing' && seen === undefined && !areNewestSigned) return { kind: 'unsigned', end: head }
  if (mac !== 'valid') return { kind: 'broken', reason: 'head_changed' }
  // A row beyond without a valid MAC was never part of the chain: it is reported as such, and the chain goes on.
  const isBehindRows = beyond.some(row => checkLinkMac(row, keys) === 'valid')
  if (isBehindRows || (seen !== undefined && head.sequence < seen.sequence)) {
    return { kind: 'broken', reason: 'head_set_back' }
  }
  const isOther = seen !== undefined && head.sequence === seen.sequence && head.hash !== seen.hash
  return isOther ? { kind: 'broken', reason: 'head_changed' } : { kind: 'valid', head }
}

/** Higher places are no places: the chain would take thousands of years. It keeps a forged row from ending the numbers. */
const HIGHEST_SEQUENCE = 2 ** 40

/** The place of a row in the chain; undefined if it has none. MongoDB stores whatever somebody writes into it. */
export function placeOf({ sequence }: Pick<AuditDocument, 'sequence'>): number | undefined {
  const isPlace = Number.isInteger(sequence) && (sequence as number) >= 1 && (sequence as number) <= HIGHEST_SEQUENCE
  return isPlace ? sequence : undefined
}

/** The end of the chain after the places that `beyond` already has. Two rows cannot have one place. */
export function skipTakenPlaces(end: ChainEnd, beyond: readonly AuditDocument[]): ChainEnd {
  // MongoDB compares numbers of all types, and Number reads them all.
  const places = beyond.map(row => Math.floor(Number(row.sequence))).filter(Number.isSafeInteger)
  return { ...end, sequence: Math.max(end.sequence, ...places) }
}

/**
 * Where a broken chain continues: after the newest row that is known to have been part of it. Rows that are missing before leave a gap.
 * @param newest rows, among them the newest ones of the chain
 */
export function endOfBrokenChain(
  { head, seen, newest }: Pick<FoundEnd, 'head' | 'seen'> & { readonly newest: readonly AuditDocument[] },
  keys: AuditKeys,
): ChainEnd {
  const signed = newest.filter(row => placeOf(row) !== undefined && checkLinkMac(row, keys) === 'valid')
  const signedHead = head !== undefined && checkHeadMac(head, keys) === 'valid' ? [head] : []
  const known = [EMPTY_CHAIN, ...signed.map(endAfter), ...signedHead, ...(seen === undefined ? [] : [seen])]
  const end = known.reduce((latest, one) => (one.sequence > latest.sequence ? one : latest))
  if (end.sequence > 0) return end
  const hashed = newest.filter(row => placeOf(row) !== undefined).map(endAfter)
  return hashed.reduce((latest, one) => (one.sequence > latest.sequence ? one : latest), end)
}
