import type { AuditDocument } from '@backstop/contracts'
import type { PageRequest } from '../../store/collection.ts'
import type { AdminStores, ReadCollections } from '../../store/stores.ts'
import { walkPages } from '../../store/walk-pages.ts'

const ROWS_PER_READ = 500

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
