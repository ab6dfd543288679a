import { createHash } from 'node:crypto'
import type { AuditChainDocument, AuditDocument, AuditVerification } from '@backstop/contracts'

type ChainEnd = Pick<AuditChainDocument, 'sequence' | 'hash'>
type ChainFields = Required<Pick<AuditDocument, 'sequence' | 'previous_hash' | 'hash'>>

/** The end of a chain without rows. */
export const EMPTY_CHAIN: ChainEnd = { sequence: 0, hash: '' }

/** The chain fields of the row that follows the end of the chain. */
export function linkRow(row: AuditDocument, { sequence, hash }: ChainEnd): ChainFields {
  const link = { sequence: sequence + 1, previous_hash: hash }
  return { ...link, hash: hashOf({ ...row, ...link }) }
}

function hashOf({ hash: _, unchained: __, ...row }: AuditDocument): string {
  return createHash('sha256')
    .update(`${row.previous_hash}\n${canonical(row)}`)
    .digest('hex')
}

/** JSON with sorted keys and without undefined fields, so that the same row always gives the same text. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) => {
    if (typeof item !== 'object' || item === null || Array.isArray(item)) return item
    return Object.fromEntries(Object.entries(item).toSorted(([a], [b]) => (a < b ? -1 : 1)))
  })
}

type Fault = NonNullable<AuditVerification['broken']>

/**
 * Verifies rows of the chain.
 * @param rows by descending sequence
 * @param expected the hash that the next newer row, or the head, states of the first row; undefined if it is unknown
 */
export function findBrokenRow(rows: readonly AuditDocument[], expected: string | undefined): Fault | undefined {
  let stated = expected
  let sequence = rows[0]?.sequence ?? 0
  for (const row of rows) {
    if (row.sequence !== sequence) return { sequence, reason: 'row_missing' }
    if (row.hash !== hashOf(row)) return { sequence, reason: 'row_changed' }
    if (stated !== undefined && row.hash !== stated) return { sequence, reason: 'link_broken' }
    stated = row.previous_hash
    sequence--
  }
  return undefined
}
