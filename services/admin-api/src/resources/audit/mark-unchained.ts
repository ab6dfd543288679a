import type { AdminStores } from '../../store/stores.ts'
import { rowPages } from './row-pages.ts'

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
