import type { AuditDocument, AuditFault, AuditFaultReason } from '@backstop/contracts'

/** A fault with a sentence for people. @param row the row if it is there @param sequence the row's place; null if it has none */
export function faultOf(
  reason: AuditFaultReason,
  sequence: number | null,
  row?: Pick<AuditDocument, '_id' | 'action' | 'at' | 'target'>,
  missing = 1,
): AuditFault {
  const name = sequence === null ? `Row ${row?._id ?? ''}` : `Row ${sequence}`
  const about = row === undefined ? '' : ` (${row.action}, ${timeOf(row.at)})`
  const rows = missing > 1 ? `Rows ${(sequence ?? 0) - missing + 1} to ${sequence} are` : `${name} is`
  const text = {
    row_missing: `${rows} missing: removed, and too young to have expired`,
    row_changed: `${name}${about} was changed after it was written`,
    link_broken: `${name}${about} was replaced: the row above it states another hash`,
    mac_missing: `${name}${about} has no MAC: it was linked by a release before 0.3.0, or by somebody without SECRET_KEYS`,
    mac_wrong: `${name}${about} was recomputed without SECRET_KEYS`,
    row_unsigned: `${name}${about} was added by something that does not have SECRET_KEYS`,
    row_outside: `${name}${about} is in the audit, but no part of the chain`,
    chain_broken: `${name} (${timeOf(row?.at)}) records that the chain was found broken at that time: ${row?.target ?? ''}`,
    head_missing: 'The head of the chain was removed',
    head_changed: `The head of the chain (row ${sequence}) was not written with SECRET_KEYS`,
    head_set_back: `The chain has been longer: its newest row was row ${sequence}`,
    head_differs: `${name} does not have the hash of the given head: the chain was recomputed, or is another one`,
    key_unknown: 'SECRET_KEYS does not have the key of the head; add that key again',
  }[reason]
  return { reason, sequence, audit_id: row?._id ?? null, text }
}

function timeOf(at: unknown): string {
  return at instanceof Date && !Number.isNaN(at.getTime()) ? at.toISOString() : 'without a valid time'
}
