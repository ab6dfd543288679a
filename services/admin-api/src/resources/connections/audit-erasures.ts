import { type AuditDocument, deterministicId, type ErasureDocument } from '@backstop/contracts'
import type { AdminCollections } from '../../store/stores.ts'

/** An erasure without a row is found for this time after its end, in milliseconds. Longer than any stop of this service. */
const FOUND_FOR_MS = 30 * 86_400_000
const MOST_ROWS = 500

/**
 * Writes one audit row when the personal data of a deleted connection has been erased: who deleted the connection, and what was erased.
 * @returns the number of new rows
 */
export async function auditErasures(
  { erasures, audit }: Pick<AdminCollections, 'erasures' | 'audit'>,
  now: Date,
): Promise<number> {
  const from = new Date(now.getTime() - FOUND_FOR_MS)
  const finished = await erasures.page({ where: {}, by: 'finished_at', window: { from }, limit: MOST_ROWS })
  const known = new Set((await audit.findAll({ _id: { in: finished.map(rowId) } })).map(({ _id }) => _id))
  let written = 0
  for (const erasure of finished) {
    if (known.has(rowId(erasure))) continue
    const [deletion] = await audit.findAll({ target: erasure._id, action: 'connection.delete' })
    if (await audit.insert(rowOf(erasure, deletion, now))) written++
  }
  return written
}

function rowId({ _id }: ErasureDocument): string {
  return deterministicId('audit', 'connection.erase', _id)
}

/** @param deletion the row of the deletion; undefined if it has expired */
function rowOf(erasure: ErasureDocument, deletion: AuditDocument | undefined, now: Date): AuditDocument {
  const { _id: target, project_id, finished_at, cases, bodies } = erasure
  return {
    _id: rowId(erasure),
    at: finished_at ?? now,
    key_id: deletion?.key_id ?? null,
    action: 'connection.erase',
    target,
    project_id,
    request_id: deletion?.request_id ?? null,
    address: deletion?.address ?? null,
    erased: { cases, bodies },
    unchained: true,
  }
}
