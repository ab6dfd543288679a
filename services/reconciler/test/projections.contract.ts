import { type Action, type ActionDocument, deterministicId } from '@backstop/contracts'
import { decide, type ListingState, projectAction } from '@backstop/verdict'
import { contextAt, emptyCase, onlyAction, refundSeen, T0 } from '@backstop/verdict/test'
import { beforeEach, describe, expect, test } from 'vitest'
import type { ProjectionStore } from '../src/batch/projection-store.ts'
import type { ReconcilerStores } from '../src/stores.ts'

const theCase = decide(emptyCase(), refundSeen(), contextAt(T0))
const action = projectAction(theCase, onlyAction(theCase))

/** A listed action that was not merged and has no second look. */
const LISTED = { mergedInto: null, lookResult: undefined, isDecided: false } as const

/** The store of projections, and an action as other services read it. */
export interface ProjectionsUnderTest extends Pick<ReconcilerStores, 'projections'> {
  listedAction(actionId: string): Promise<Pick<ActionDocument, 'version' | 'merged_into'> | undefined>
}

/** The tests for every implementation of the store of projections. Each test gets an empty store. */
export function projectionContract(name: string, open: () => Promise<ProjectionsUnderTest>): void {
  describe(`projections, ${name}`, () => {
    let projections: ProjectionStore
    let listedAction: ProjectionsUnderTest['listedAction']
    beforeEach(async () => {
      ;({ projections, listedAction } = await open())
    })

    test('an older projection never replaces a newer one, in any order', async () => {
      const listed = (change: Partial<Action>, listing: ListingState = 'absent') => {
        return { action: { ...action, ...change }, ...LISTED, listing }
      }
      for (const listing of ['absent', 'outdated'] as const) {
        for (const version of [3, 1, 2]) await projections.saveActions([listed({ version }, listing)], T0)
      }
      const other = { version: 1, action_id: deterministicId('action', 'other') }
      await projections.saveActions([listed({ version: 1 }), listed(other)], T0)
      expect((await listedAction(action.action_id))?.version).toBe(3)
    })

    test('of two versions that are written at the same moment, the newer one is kept', async () => {
      const ids = Array.from({ length: 100 }, (_, index) => deterministicId('action', `at once ${index}`))
      const save = (version: number, listing: ListingState) =>
        projections.saveActions(
          ids.map(action_id => ({ action: { ...action, action_id, version }, ...LISTED, listing })),
          T0,
        )
      await Promise.all([save(1, 'absent'), save(2, 'outdated'), save(1, 'outdated')])
      for (const id of ids) expect(await listedAction(id)).toMatchObject({ version: 2 })
    })

    test('a projection that may be listed is written if it is missing or older', async () => {
      const listed = { ...LISTED, listing: 'current' } as const
      for (const version of [2, 1, 3, 3]) {
        const state = version === 1 ? 'failed' : 'succeeded'
        await projections.saveActions([{ action: { ...action, version, state }, ...listed }], T0)
        expect(await listedAction(action.action_id)).toMatchObject({
          version: Math.max(version, 2),
          state: 'succeeded',
        })
      }
    })

    test('a merged action refers to its new action, and an older projection does not undo that', async () => {
      const listed = { ...LISTED, listing: 'outdated' } as const
      await projections.saveActions([{ action: { ...action, version: 2 }, ...listed, mergedInto: 'act_other' }], T0)
      await projections.saveActions([{ action, ...listed, listing: 'absent' }], T0)
      expect(await listedAction(action.action_id)).toMatchObject({ version: 2, merged_into: 'act_other' })
    })

    test('details that a newer projection no longer has are removed', async () => {
      const origin = {
        channel: 'api',
        key_name: null,
        user: 'Canary ann',
        request_id: null,
        idempotency_key: null,
      } as const
      const customer = { id: null, name: 'Canary ann', email: null }
      const known = { ...action, version: 1, origin, customer }
      await projections.saveActions([{ action: known, ...LISTED, listing: 'absent' }], T0)
      await projections.saveActions([{ action: { ...action, version: 2 }, ...LISTED, listing: 'outdated' }], T0)
      expect(JSON.stringify(await listedAction(action.action_id))).not.toContain('Canary')
    })
  })
}
