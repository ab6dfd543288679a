import { decide, projectActions, projectIncidents } from '@backstop/verdict'
import { contextAt, emptyCase, lookAll, PROJECT, refundSeen, T0 } from '@backstop/verdict/test'
import { beforeEach, describe, expect, test } from 'vitest'
import type { ProjectionStore } from '../src/batch/projection-store.ts'
import type { OpenActionPosition, OpenActionReader } from '../src/commands/open-action-store.ts'
import type { ReconcilerStores } from '../src/stores.ts'

/** A case whose only action has an open incident. */
const theCase = lookAll(decide(emptyCase(), refundSeen(), contextAt(T0)))

/** The tests for every implementation of the reader of actions with an open incident. Each test gets an empty store. */
export function openActionContract(
  name: string,
  open: () => Promise<Pick<ReconcilerStores, 'openActions' | 'projections'>>,
): void {
  describe(`open actions, ${name}`, () => {
    let openActions: OpenActionReader
    let projections: ProjectionStore
    beforeEach(async () => {
      ;({ openActions, projections } = await open())
    })

    test('actions with an open incident are found page by page, oldest incident first', async () => {
      const at = (index: number) => new Date(T0 + index).toISOString()
      const incidents = [3, 1, 2, 4].map(index => ({
        ...projectIncidents(theCase)[0]!.incident,
        incident_id: `inc_${index}`,
        code: index === 4 ? ('REFUND_REJECTED' as const) : ('UNEXPECTED_ACTION' as const),
        action_id: `act_${index}`,
        opened_at: at(index),
      }))
      const [projected] = projectActions(theCase)
      await projections.saveActions(
        incidents.map(({ action_id }) => ({ ...projected!, action: { ...projected!.action, action_id } })),
        T0,
      )
      await projections.saveIncidents(incidents.map(incident => ({ incident, listing: 'absent' })))
      const idsOf = async (after?: OpenActionPosition, limit = 2) =>
        (await openActions.page(PROJECT, after, limit)).map(({ action }) => action._id)
      expect(await idsOf()).toEqual(['act_1', 'act_2'])
      expect(await idsOf({ openedAt: T0 + 2, incidentId: 'inc_2' })).toEqual(['act_3'])
      const resolved = { ...incidents[1]!, state: 'resolved' as const, version: incidents[1]!.version + 1 }
      await projections.saveIncidents([{ incident: resolved, listing: 'outdated' }])
      expect(await idsOf(undefined, 9)).toEqual(['act_2', 'act_3'])
      expect(await openActions.page('prj_other', undefined, 9)).toEqual([])
      const byIds = await openActions.byIds(['act_1', 'act_2', 'act_none'])
      expect(byIds.map(({ _id }) => _id).sort()).toEqual(['act_1', 'act_2'])
    })
  })
}
