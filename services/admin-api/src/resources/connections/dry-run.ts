import { type ActionDocument, outOfBandOf, SettingDryRun, SettingDryRunQuery } from '@backstop/contracts'
import { findConnection } from '../../http/find-resource.ts'
import { refusedField } from '../../http/refused-field.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import type { DocumentFilter } from '../../store/collection.ts'
import type { ReadCollections } from '../../store/stores.ts'
import {
  compareSetting,
  DRY_RUN_FIELDS,
  dryRunWindow,
  findRepeatsIn,
  REPEAT_FIELDS,
  seenWithPairs,
  type Tried,
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
    summary: 'Show what would have alerted by other settings',
    description:
      'Tries `out_of_band` on the refunds and cancellations that nothing explained at a second look in the window; everything else is as it was then. Tries `refunded_twice_within_hours` on the refunds of your operations that were first seen in the window, as they are now. Nothing is changed and nobody is alerted.',
    scope: 'read',
    query: SettingDryRunQuery,
    answers: { 200: { description: 'What alerted, and what would have alerted', schema: SettingDryRun } },
    async handle({ params, query, principal, now }) {
      const connection = await findConnection(stores, principal, params.connection_id, params.id)
      const { _id: connectionId, project_id } = connection
      const window = dryRunWindow(query, now)
      if ('fault' in window) throw refusedField('query.from', window.fault)
      const { account } = query
      const outOfBand = query.out_of_band ?? outOfBandOf(connection, account)
      const tried: Tried = { connectionId, outOfBand, ...(account === undefined ? {} : { account }) }
      const withinHours = query.refunded_twice_within_hours ?? connection.refunded_twice_within_hours ?? null
      const looked = await readActions(stores, whereLooked(tried, window), DRY_RUN_FIELDS)
      const repeats = withinHours === null ? null : await readRepeats(stores, window, { ...tried, withinHours })
      return {
        status: 200,
        body: {
          ...{ project_id, connection_id: connectionId, out_of_band: tried.outOfBand },
          is_complete: looked.isComplete && repeats?.isComplete !== false,
          from: window.from.toISOString(),
          to: window.to.toISOString(),
          ...compareSetting(looked.actions, tried),
          refunded_twice: repeats?.found ?? null,
        },
      }
    },
  })
}

function whereLooked({ connectionId, account }: Tried, { from, to }: Window): DocumentFilter<ActionDocument> {
  // Times are whole milliseconds, and both bounds of a range are included.
  const look_done = { min: from, max: new Date(to.getTime() - 1) }
  return { connection_ids: connectionId, account, look_done, merged_into: null }
}

async function readRepeats(
  stores: Pick<ReadCollections, 'actions'>,
  window: Window,
  tried: Tried & { readonly withinHours: number },
) {
  const first_seen = seenWithPairs(window, tried.withinHours)
  const where = {
    connection_ids: tried.connectionId,
    account: tried.account,
    verdict: 'explained',
    first_seen,
    merged_into: null,
  } as const
  const { actions, isComplete } = await readActions(stores, where, REPEAT_FIELDS)
  return { found: findRepeatsIn(actions, window, tried), isComplete }
}

async function readActions<Field extends keyof ActionDocument & string>(
  { actions }: Pick<ReadCollections, 'actions'>,
  where: DocumentFilter<ActionDocument>,
  fields: readonly Field[],
): Promise<{ readonly actions: readonly Pick<ActionDocument, Field | '_id'>[]; readonly isComplete: boolean }> {
  const found: Pick<ActionDocument, Field | '_id'>[] = []
  for await (const batch of actions.batches(where, fields)) {
    if (found.length + batch.length > MOST_ACTIONS) return { actions: found, isComplete: false }
    found.push(...batch)
  }
  return { actions: found, isComplete: true }
}
