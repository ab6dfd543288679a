import { z } from 'zod'
import { ActionMode } from '../actions/action-details.ts'
import { Currency, Timestamp } from '../actions/operation.ts'
import { IncidentState } from '../actions/verdict.ts'
import { ProviderKind } from '../providers.ts'
import { NextSteps } from './incident.ts'
import { IdFilter, ListQuery } from './list.ts'

/** A storm as the API shows it: its incidents, counted now. */
export const StormOverview = z.object({
  storm_id: z.string(),
  project_id: z.string(),
  connection_id: z.string(),
  provider: ProviderKind,
  state: IncidentState.describe(
    'open if an incident is open; acknowledged if none is open and one is acknowledged; resolved if all are resolved',
  ),
  began_at: Timestamp,
  last_at: Timestamp.describe('When the last incident joined'),
  ended_at: Timestamp.nullable().describe('When no further incidents joined; null while it goes on'),
  incidents: z.object({ open: z.int(), acknowledged: z.int(), resolved: z.int() }),
  money: z
    .array(z.object({ currency: Currency, amount: z.int(), count: z.int(), mode: ActionMode }))
    .describe('Minor units of the incidents with an amount, by currency and mode; test money last'),
})
export type StormOverview = z.infer<typeof StormOverview>

/** A storm as GET /v1/storms/{id} shows it. */
export const StormWithSteps = StormOverview.extend({
  next_steps: NextSteps.nullable().describe('What to do at the provider; null if every incident is resolved'),
})
export type StormWithSteps = z.infer<typeof StormWithSteps>

/** The query of GET /v1/storms. */
export const StormQuery = ListQuery.extend({
  project_id: IdFilter.optional(),
  connection_id: IdFilter.optional(),
})
