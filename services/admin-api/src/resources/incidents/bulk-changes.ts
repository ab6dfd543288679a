import {
  BulkIncidentChange,
  BulkPreview,
  IncidentBulk,
  type IncidentBulkDocument,
  type IncidentDocument,
  type LifeCycleChange,
} from '@backstop/contracts'
import { AppError } from '@backstop/kit/errors'
import type { z } from 'zod'
import { listChangedFields } from '../../http/changed-fields.ts'
import { findProject } from '../../http/find-resource.ts'
import { getRoute } from '../../http/read-routes.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import { showDocument } from '../../rules/show-document.ts'
import type { ReadCollections } from '../../store/stores.ts'
import { walkPages } from '../../store/walk-pages.ts'
import { nameActorsOfIncidents } from '../actors/name-actors.ts'
import { actorOf, checkOwnChange } from './request-changes.ts'
import { allowsChange, STATES_BEFORE, showIncident } from './rules/incident.ts'

const tag = 'Incidents'

/** How long the route waits until the reconciler has begun, in milliseconds. */
const BEGINNING_MS = 10_000
/** Incidents that a preview reads, in pages. */
const MAX_COUNTED = 10_000
const PAGE = 1_000
const SHOWN = 20

/** /v1/incidents/bulk and /v1/incident-bulks */
export function bulkRoutes(parts: AdminParts): Route[] {
  return [
    bulkRoute(parts),
    getRoute({
      path: '/v1/incident-bulks',
      operationId: 'getIncidentBulk',
      tag,
      summary: 'Get the progress of a bulk change',
      item: 'bulk change',
      schema: IncidentBulk,
      collection: parts.stores.incidentBulks,
      show: showBulk,
    }),
  ]
}

function bulkRoute(parts: AdminParts): Route {
  const { stores, commands, outcomes } = parts
  return defineRoute({
    method: 'post',
    path: '/v1/incidents/bulk',
    operationId: 'changeIncidents',
    tag,
    summary: 'Change many incidents, or count what would change',
    description:
      'Acknowledges, assigns, resolves, reopens or comments on every incident that the filter finds and whose state allows it. With `dry_run` it counts them and shows the newest 20. The change continues after the answer and survives a restart: GET /v1/incident-bulks/{id} has its progress.',
    scope: 'incidents:write',
    body: BulkIncidentChange,
    answers: {
      200: { description: 'What would change', schema: BulkPreview },
      202: { description: 'The change has begun', schema: IncidentBulk },
    },
    refusals: ['not_found'],
    async handle({ body, principal, newId, now, signal, change: transact }) {
      const { _id: projectId } = await findProject(stores, principal, body.project_id)
      checkOwnChange(principal, body.change, projectId)
      const selection = selectionOf(body, now)
      if (body.dry_run)
        return { status: 200, body: await preview(stores, projectId, selection, body.change.kind, signal) }
      const bulkId = newId('incidentBulk')
      const actor = actorOf(principal)
      const change = changeOf(body.change)
      // Before the reconciler is asked, because the caller may hang up before the change begins.
      await transact(
        async () => {},
        () => ({
          action: 'incident.bulk',
          target: bulkId,
          projectId,
          changes: listChangedFields(bulkId, undefined, { selection, change }),
        }),
      )
      await commands.send([
        {
          kind: 'change_incidents',
          command_id: newId('command'),
          project_id: projectId,
          requested_at: now.toISOString(),
          bulk_id: bulkId,
          selection,
          change,
          actor,
        },
      ])
      const begun = await outcomes.waitFor(() => stores.incidentBulks.find({ _id: bulkId }), BEGINNING_MS, signal)
      if (begun === undefined) {
        throw new AppError(
          'unavailable',
          'The change is requested but has not begun; repeat the request with the same Idempotency-Key',
          { retryable: true },
        )
      }
      return { status: 202, body: showBulk(begun) }
    },
  })
}

type Body = z.output<typeof BulkIncidentChange>
type Selection = IncidentBulkDocument['selection']

function selectionOf({ filter, change }: Body, now: Date): Selection {
  const { connection_id, code, state, opened_from, opened_to } = filter
  const before = STATES_BEFORE[change.kind]
  return {
    ...(connection_id === undefined ? {} : { connection_id }),
    ...(code === undefined ? {} : { code }),
    ...(opened_from === undefined ? {} : { from: new Date(opened_from).toISOString() }),
    states: state === undefined ? [...before] : before.filter(allowed => allowed === state),
    // The end is exclusive, and an incident may have opened in this millisecond.
    to: new Date(opened_to ?? now.getTime() + 1).toISOString(),
  }
}

function changeOf(change: Body['change']): LifeCycleChange {
  return change.kind === 'resolve' ? { ...change, note: change.note ?? null } : change
}

async function preview(
  stores: Pick<ReadCollections, 'incidents' | 'actions' | 'actors' | 'connections'>,
  project_id: string,
  { connection_id, code, states = [], from, to }: Selection,
  kind: LifeCycleChange['kind'],
  signal: AbortSignal,
): Promise<z.input<typeof BulkPreview>> {
  const where = { project_id, connection_id, code: code as IncidentDocument['code'], state: { in: states } }
  const window = { from: from === undefined ? undefined : new Date(from), before: new Date(to) }
  const found: IncidentDocument[] = []
  const money = new Map<string, { currency: string; amount: number; count: number }>()
  const pages = walkPages<IncidentDocument, { at: Date; id: string }>({
    size: PAGE,
    signal,
    read: (after, limit) => stores.incidents.page({ where, by: 'opened', window, after, limit }),
    placeOf: ({ opened, _id }) => ({ at: opened, id: _id }),
  })
  let read = 0
  let isComplete = false
  for await (const page of pages) {
    read += page.length
    isComplete = page.length < PAGE
    const allowed = page.filter(incident => allowsChange(incident, kind))
    found.push(...allowed)
    const actions = await stores.actions.findAll({ _id: { in: allowed.flatMap(({ action_id }) => action_id ?? []) } })
    for (const { amount, currency } of actions) {
      if (amount === null || currency === null) continue
      const sum = money.get(currency) ?? { currency, amount: 0, count: 0 }
      money.set(currency, { currency, amount: sum.amount + amount, count: sum.count + 1 })
    }
    if (read >= MAX_COUNTED) break
  }
  const newest = await nameActorsOfIncidents(stores, found.slice(0, SHOWN))
  return {
    dry_run: true,
    opened_to: to,
    count: found.length,
    is_complete: isComplete,
    money: [...money.values()],
    incidents: newest.map(incident => showIncident(incident, undefined)),
  }
}

function showBulk(document: IncidentBulkDocument): IncidentBulk {
  return showDocument(IncidentBulk, document, { bulk_id: document._id })
}
