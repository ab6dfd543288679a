import type { AuditDocument } from '@backstop/contracts'
import type { PageRequest } from '../../store/collection.ts'
import type { ReadCollections } from '../../store/stores.ts'
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
