import {
  type DeliveryDocument,
  Incident,
  type IncidentDocument,
  IncidentQuery,
  IncidentState,
  IncidentWithTimeline,
  incidentAlertId,
  listOf,
} from '@backstop/contracts'
import { z } from 'zod'
import { ownProject } from '../../access/rules/access.ts'
import { decodeCursor, toPage } from '../../http/cursor.ts'
import { notFound, projectFilter } from '../../http/found.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import { showAction } from '../actions/actions.ts'

const tag = 'Incidents'

/** /v1/incidents */
export function incidentRoutes({ stores }: AdminParts): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/v1/incidents',
      operationId: 'listIncidents',
      tag,
      summary: 'List incidents, newest first',
      scope: 'read',
      query: IncidentQuery,
      answers: { 200: { description: 'A page of incidents', schema: listOf(Incident) } },
      refusals: ['not_found'],
      async handle({ query, principal }) {
        const where = {
          ...projectFilter(principal, query.project_id),
          // Every state is named where none is asked for: the index has it before the date that the list is sorted by.
          state: query.state === undefined ? { in: IncidentState.options } : query.state,
          ...(query.connection_id === undefined ? {} : { connection_id: query.connection_id }),
        }
        const after = decodeCursor(query.cursor)
        const found = await stores.incidents.page({ where, by: 'opened', after, limit: query.limit + 1 })
        const placeOf = (incident: IncidentDocument) => ({ at: incident.opened, id: incident._id })
        return { status: 200, body: toPage(found, query.limit, placeOf, showIncident) }
      },
    }),
    defineRoute({
      method: 'get',
      path: '/v1/incidents/{id}',
      operationId: 'getIncident',
      tag,
      summary: 'Read an incident with its whole story',
      description:
        'Its action, the timeline from the first event on, and every delivery of its alerts with each attempt.',
      scope: 'read',
      params: z.object({ id: z.string() }),
      answers: { 200: { description: 'The incident', schema: IncidentWithTimeline } },
      refusals: ['not_found'],
      async handle({ params, principal }) {
        const incident = await stores.incidents.find({ _id: params.id, ...ownProject(principal) })
        if (incident === undefined) throw notFound('incident', params.id)
        const own = { project_id: incident.project_id }
        const action =
          incident.action_id === null ? undefined : await stores.actions.find({ _id: incident.action_id, ...own })
        const deliveries = await stores.deliveries.findAll({ alert_id: { in: alertsOf(incident._id) }, ...own })
        const body: IncidentWithTimeline = {
          ...showIncident(incident),
          action: action === undefined ? null : showAction(action),
          timeline: action?.timeline ?? [],
          deliveries: deliveries.toSorted((a, b) => a.created_at.getTime() - b.created_at.getTime()).map(showDelivery),
        }
        return { status: 200, body }
      },
    }),
  ]
}

/** The alerts about an incident, raised or not: their ids follow from its own. */
function alertsOf(incidentId: string): string[] {
  return [incidentAlertId(incidentId, 'incident.opened'), incidentAlertId(incidentId, 'incident.resolved')]
}

function showIncident(document: IncidentDocument): Incident {
  const { _id, opened: _sortedBy, outbox: _pending, ...incident } = document
  return { incident_id: _id, ...incident }
}

function showDelivery(delivery: DeliveryDocument): IncidentWithTimeline['deliveries'][number] {
  return {
    delivery_id: delivery._id,
    channel_id: delivery.channel_id,
    alert_id: delivery.alert_id,
    event: delivery.event,
    state: delivery.state,
    reason: delivery.reason,
    attempts: delivery.attempts.map(({ attempt, at, duration_ms, outcome, status, error }) => ({
      attempt,
      at: at.toISOString(),
      duration_ms,
      outcome,
      status,
      error,
    })),
  }
}
