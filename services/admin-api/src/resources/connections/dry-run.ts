import { SettingDryRun, SettingDryRunQuery } from '@backstop/contracts'
import { findConnection } from '../../http/find-resource.ts'
import { refusedField } from '../../http/refused-field.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import type { ReadCollections } from '../../store/stores.ts'
import {
  compareSetting,
  DRY_RUN_FIELDS,
  type DryRunAction,
  dryRunWindow,
  type Window,
} from './rules/compare-setting.ts'

/** The most actions that one dry run reads, so that a storm in the window does not hold the process up. */
const MOST_ACTIONS = 20_000

/** GET /v1/projects/{id}/connections/{connection_id}/dry-run */
export function dryRunRoute({ stores }: Pick<AdminParts, 'stores'>): Route {
  return defineRoute({
    method: 'get',
    path: '/v1/projects/{id}/connections/{connection_id}/dry-run',
    operationId: 'dryRunConnection',
    tag: 'Connections',
    summary: 'Show what would have alerted by another `out_of_band`',
    description:
      'Applies the setting to the refunds and cancellations whose second look was in the window and found no explanation. Everything else is as it was at the second look. Nothing is changed and nobody is alerted.',
    scope: 'read',
    query: SettingDryRunQuery,
    answers: { 200: { description: 'What alerted, and what would have alerted', schema: SettingDryRun } },
    async handle({ params, query, principal, now }) {
      const { _id: connectionId, project_id } = await findConnection(stores, principal, params.connection_id, params.id)
      const window = dryRunWindow(query, now)
      if ('fault' in window) throw refusedField('query.from', window.fault)
      const { actions, isComplete } = await readActions(stores, connectionId, window)
      const { out_of_band } = query
      return {
        status: 200,
        body: {
          ...{ project_id, connection_id: connectionId, out_of_band, is_complete: isComplete },
          from: window.from.toISOString(),
          to: window.to.toISOString(),
          ...compareSetting(actions, { connectionId, outOfBand: out_of_band }),
        },
      }
    },
  })
}

async function readActions(
  { actions }: Pick<ReadCollections, 'actions'>,
  connectionId: string,
  { from, to }: Window,
): Promise<{ readonly actions: readonly DryRunAction[]; readonly isComplete: boolean }> {
  const found: DryRunAction[] = []
  // Times are whole milliseconds, and both bounds of a range are included.
  const look_done = { min: from, max: new Date(to.getTime() - 1) }
  const where = { connection_ids: connectionId, look_done, merged_into: null }
  for await (const batch of actions.batches(where, DRY_RUN_FIELDS)) {
    if (found.length + batch.length > MOST_ACTIONS) return { actions: found, isComplete: false }
    found.push(...batch)
  }
  return { actions: found, isComplete: true }
}
