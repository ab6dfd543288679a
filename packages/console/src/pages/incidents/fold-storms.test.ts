import { expect, test } from 'vitest'
import type { ListedIncident } from '../../api/incidents.ts'
import { wholeList } from '../../api/list.ts'
import { foldStorms } from './fold-storms.ts'

const incident = (incident_id: string, storm_id: string | null = null) => ({ incident_id, storm_id }) as ListedIncident
const stormRow = (incident_id: string, storm_id: string) =>
  ({ ...incident(incident_id, storm_id), storm: { storm_id } }) as ListedIncident
const idsOf = (incidents: readonly ListedIncident[]) => incidents.map(({ incident_id }) => incident_id)

test('an incident that a live event adds to a storm has no row and is not new, and a storm that grew has one row', () => {
  const items = [incident('live', 'stm_1'), stormRow('newer', 'stm_1'), incident('alone'), stormRow('older', 'stm_1')]
  const arrivals = [incident('waits', 'stm_1'), incident('of-new-storm', 'stm_2'), incident('other')]
  const folded = foldStorms({ ...wholeList(items, ({ incident_id }) => incident_id), arrivals })
  expect(idsOf(folded.items)).toEqual(['newer', 'alone'])
  expect(idsOf(folded.arrivals)).toEqual(['of-new-storm', 'other'])
})
