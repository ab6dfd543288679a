import type { IncidentOutcomeDocument } from '@backstop/contracts'
import { PROJECT, T0 } from '@backstop/verdict/test'
import { beforeEach, describe, expect, test } from 'vitest'
import type { IncidentOutcomeStore } from '../src/commands/incident-outcome-store.ts'
import type { ReconcilerStores } from '../src/stores.ts'

/** The tests for every implementation of the outcomes of commands that change incidents. Each test gets an empty store. */
export function incidentOutcomeContract(
  name: string,
  open: () => Promise<Pick<ReconcilerStores, 'incidentOutcomes'>>,
): void {
  describe(`incident outcomes, ${name}`, () => {
    let incidentOutcomes: IncidentOutcomeStore
    beforeEach(async () => {
      ;({ incidentOutcomes } = await open())
    })

    test('the first outcome of a command that changes an incident is kept', async () => {
      const refused: IncidentOutcomeDocument = {
        _id: 'cmd_1',
        project_id: PROJECT,
        incident_id: 'inc_1',
        outcome: 'refused',
        reason: 'state',
        detail: 'Resolved by Ann',
        at: new Date(T0),
      }
      await incidentOutcomes.insert([refused])
      await incidentOutcomes.insert([{ ...refused, outcome: 'changed', reason: null, detail: null }])
      expect(await incidentOutcomes.byCommands(['cmd_1', 'cmd_none'])).toEqual([refused])
    })
  })
}
