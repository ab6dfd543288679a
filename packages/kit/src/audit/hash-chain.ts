import { createHash } from 'node:crypto'
import type { AuditChainDocument, AuditDocument } from '@backstop/contracts'
import type { SecretBox } from '../secret-box/secret-box.ts'
import { canonicalJson, linkedText, textWithMac, writtenText } from './row-text.ts'

/** The keys of the MACs of the audit: keys outside of the database. */
export type AuditKeys = Pick<SecretBox, 'mac' | 'checkMac'>
/** The end of the chain, which the next row follows. */
export type ChainEnd = Pick<AuditChainDocument, 'sequence' | 'hash' | 'at'>

/** The end of a chain without rows. */
export const EMPTY_CHAIN: ChainEnd = { sequence: 0, hash: '', at: null }

/** The row with the MAC of its writer. A row without it joins the chain as `unsigned`. */
export function signRow(row: AuditDocument, keys: AuditKeys): AuditDocument {
  return { ...row, mac: keys.mac('audit-row', writtenText(row)) }
}

/** True if a process with SECRET_KEYS wrote the row. For rows that are not part of the chain yet. */
export function isSignedByWriter(row: AuditDocument, keys: AuditKeys): boolean {
  return row.mac !== undefined && keys.checkMac('audit-row', writtenText(row), row.mac) === 'valid'
}

/** The row as the one that follows the end of the chain. */
export function linkRow(row: AuditDocument, end: ChainEnd, keys: AuditKeys, now: Date): AuditDocument {
  const { unsigned: _, ...written } = row
  const linked: AuditDocument = {
    ...written,
    sequence: end.sequence + 1,
    previous_hash: end.hash,
    previous_at: end.at ?? null,
    chained_at: now,
    ...(isSignedByWriter(row, keys) ? {} : { unsigned: true }),
  }
  const { mac, text } = textWithMac(linked, linkedText => keys.mac('audit-link', linkedText))
  return { ...linked, mac, hash: hashOf(end.hash, text), unchained: false }
}

/** The row as a release before 0.3.0 links it: only hashed. For the rows of before an update. */
export function linkRowByHash(row: AuditDocument, end: ChainEnd): AuditDocument {
  const linked = { ...row, sequence: end.sequence + 1, previous_hash: end.hash }
  return { ...linked, hash: hashOfRow(linked), unchained: false }
}

/** The end of the chain after a linked row. */
export function endAfter({ sequence = 0, hash = '', at }: AuditDocument): ChainEnd {
  return { sequence, hash, at }
}

/** The `hash` of a row: SHA-256 over the previous hash and the row. It needs no key. */
export function hashOfRow({ hash: _, unchained: __, ...row }: AuditDocument): string {
  return hashOf(row.previous_hash, canonicalJson(row))
}

function hashOf(previousHash: string | undefined, text: string): string {
  return createHash('sha256').update(`${previousHash}\n${text}`).digest('hex')
}

/** Whether a row has the MAC that a process with SECRET_KEYS gave it when it joined the chain. */
export function checkLinkMac(row: AuditDocument, keys: AuditKeys): 'valid' | 'wrong' | 'unknown_key' | 'missing' {
  if (row.mac === undefined || row.chained_at === undefined) return 'missing'
  return keys.checkMac('audit-link', linkedText(row), row.mac)
}

/** The signed statement of the end of the chain. */
export function signHead(
  end: ChainEnd,
  signed_from: NonNullable<AuditChainDocument['signed_from']>,
  keys: AuditKeys,
): AuditChainDocument {
  const head = { _id: 'head' as const, sequence: end.sequence, hash: end.hash, at: end.at ?? null, signed_from }
  return { ...head, mac: keys.mac('audit-head', canonicalJson(head)) }
}

/** Whether a process with SECRET_KEYS wrote the head. */
export function checkHeadMac(
  { mac, ...head }: AuditChainDocument,
  keys: AuditKeys,
): 'valid' | 'wrong' | 'unknown_key' | 'missing' {
  return mac === undefined ? 'missing' : keys.checkMac('audit-head', canonicalJson(head), mac)
}
