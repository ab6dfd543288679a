import type { AuditChainDocument, AuditDocument, AuditFaultReason } from '@backstop/contracts'
import { type AuditKeys, checkLinkMac, hashOfRow } from './hash-chain.ts'

const DAY_MS = 86_400_000
/** Rows expire after 400 days. A day less, because the clocks of MongoDB and of this process may differ, and expiry runs every minute. */
const EXPIRES_AFTER_MS = 399 * DAY_MS
/** For this time after the update, processes of the release before may still write rows without a MAC. */
const UPDATE_MS = DAY_MS
/** The action of the row that the chain continues with after it was broken. */
export const CHAIN_BROKEN = 'audit.chain_broken'

type SignedFrom = NonNullable<AuditChainDocument['signed_from']>

/** What is known about the chain while its rows are checked. */
export interface ChainContext {
  /** Undefined: MACs are not checked, for a machine without SECRET_KEYS. */
  readonly keys: AuditKeys | undefined
  /** Where rows with a MAC begin; undefined if no row has one yet. */
  readonly signedFrom: SignedFrom | undefined
  readonly now: Date
}

/** Checks one row of the chain by itself. @returns undefined if it is as it was linked */
export function findRowFault(
  row: AuditDocument,
  { keys, signedFrom }: Pick<ChainContext, 'keys' | 'signedFrom'>,
): AuditFaultReason | undefined {
  if (row.hash !== hashOfRow(row)) return 'row_changed'
  if (signedFrom === undefined || (row.sequence ?? 0) < signedFrom.sequence) return undefined
  if (row.chained_at === undefined || row.mac === undefined) return 'mac_missing'
  // A row whose key was removed from SECRET_KEYS is protected by the hash in the rows above it.
  if (keys !== undefined && checkLinkMac(row, keys) === 'wrong') return 'mac_wrong'
  if (row.action === CHAIN_BROKEN) return 'chain_broken'
  return row.unsigned === true && !mayBeUnsigned(row, row.chained_at, signedFrom) ? 'row_unsigned' : undefined
}

/**
 * `keys recover` works without SECRET_KEYS, and processes of the release before run for a while during an update. A chain whose first row is
 * signed had no update.
 */
function mayBeUnsigned({ action }: AuditDocument, chainedAt: Date, { sequence, at }: SignedFrom): boolean {
  const isUpdate = sequence > 1 && chainedAt.getTime() < at.getTime() + UPDATE_MS
  return isUpdate || action === 'api_key.recover'
}

/**
 * True if the row below this one may have expired, so that the chain may begin here.
 * @param row the row above the missing one. A row that is only hashed does not state the time of the row below it, which is about its own.
 */
export function mayPreviousBeExpired(row: Pick<AuditDocument, 'sequence' | 'at' | 'previous_at'>, now: Date): boolean {
  return mayBeExpired(row.previous_at ?? row.at, now)
}

export function mayBeExpired(at: Date, now: Date): boolean {
  return at.getTime() < now.getTime() - EXPIRES_AFTER_MS
}
