import { beforeEach, describe, expect, test } from 'vitest'
import type { ReconcilerStores } from '../src/stores.ts'
import type { OperationSearchStore } from '../src/sweep/operation-search-store.ts'

/** The tests for every implementation of the progress of the search for operations. Each test gets an empty store. */
export function operationSearchContract(
  name: string,
  open: () => Promise<Pick<ReconcilerStores, 'operationSearch'>>,
): void {
  describe(`search for operations, ${name}`, () => {
    let search: OperationSearchStore
    beforeEach(async () => {
      search = (await open()).operationSearch
    })

    test('the search for operations is leased to one process at a time, goes on where it was, and never goes back', async () => {
      const at = (second: number, operation_id = '') => ({
        updated_at: new Date(second * 1_000).toISOString(),
        operation_id,
      })
      const claims = await Promise.all([search.claim(at(1), 10, 20), search.claim(at(1), 10, 20)])
      expect(claims.filter(claim => claim !== undefined)).toEqual([{ position: at(1), wasInterrupted: false }])
      await search.advance(at(2, 'op_2'), 30)
      expect(await search.claim(at(9), 29, 40)).toBeUndefined()
      const interrupted = { position: at(2, 'op_2'), wasInterrupted: true }
      expect(await search.claim(at(9), 31, 40)).toEqual(interrupted)
      await search.advance(at(2, 'op_1'), null)
      expect(await search.claim(at(9), 32, 50)).toEqual({ ...interrupted, wasInterrupted: false })
    })
  })
}
