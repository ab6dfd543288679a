import {
  type DeliveryDocument,
  findSilenceAt,
  Incident,
  type IncidentDocument,
  IncidentQuery,
  IncidentState,
  IncidentWithTimeline,
  incidentAlertId,
  type StormMemberDocument,
} from '@backstop/contracts'
import { findInProject } from '../../http/find-resource.ts'
import { getRoute, listRoute } from '../../http/read-routes.ts'
import type { Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import type { ReadCollections } from '../../store/stores.ts'
import { showAction } from '../actions/actions.ts'
import { summarizeSilence } from '../silences/rules/silence.ts'

const tag = 'Incidents'

/** /v1/incidents */
export function incidentRoutes({ stores }: AdminParts): Route[] {
  return [
    listRoute({
      path: '/v1/incidents',
      operationId: 'listIncidents',
      tag,
      summary: 'List incidents, newest first',
      items: 'incidents',
      query: IncidentQuery,
      schema: Incident,
      collection: stores.incidents,
      sortedBy: 'opened',
      filter: ({ connection_id, state }) => ({
        connection_id,
        // Without a state in the query, all states are named, because in the index the state comes before the date that sorts the list.
        state: state ?? { in: IncidentState.options },
      }),
      beside: stores.stormMembers,
      show: showIncident,
    }),
    getRoute({
      path: '/v1/incidents/{id}',
      operationId: 'getIncident',
      tag,
      summary: 'Get an incident with its action, timeline and deliveries',
      description: 'The timeline starts with the first event; deliveries of its alerts have all their attempts.',
      item: 'incident',
      schema: IncidentWithTimeline,
      find: ({ params, principal }) => findInProject(stores.incidents, principal, 'incident', params.id),
      show: incident => showWithTimeline(stores, incident),
    }),
  ]
}

async function showWithTimeline(
  {
    actions,
    deliveries,
    silences,
    stormMembers,
  }: Pick<ReadCollections, 'actions' | 'deliveries' | 'silences' | 'stormMembers'>,
  incident: IncidentDocument,
): Promise<IncidentWithTimeline> {
  const { project_id, action_id, connection_id } = incident
  const action = action_id === null ? undefined : await actions.find({ _id: action_id, project_id })
  const sent = await deliveries.findAll({ alert_id: { in: alertsOf(incident._id) }, project_id })
  const ofConnection = connection_id === null ? [] : await silences.findAll({ connection_id, project_id })
  const silence = findSilenceAt(ofConnection, new Date(incident.opened_at))
  return {
    ...showIncident(incident, await stormMembers.find({ _id: incident._id })),
    silence: silence === undefined ? null : summarizeSilence(silence),
    action: action === undefined ? null : showAction(action),
    timeline: action?.timeline ?? [],
    deliveries: sent.toSorted((a, b) => a.created_at.getTime() - b.created_at.getTime()).map(showDelivery),
  }
}

/** The possible alert ids of an incident, sent or not. They are computed from its id. */
function alertsOf(incidentId: string): string[] {
  return [incidentAlertId(incidentId, 'incident.opened'), incidentAlertId(incidentId, 'incident.resolved')]
}

/** @param member the record of the notifier that says to which storm the incident belongs */
function showIncident(document: IncidentDocument, member: StormMemberDocument | undefined): Incident {
  const { _id, opened: _sortedBy, outbox: _pending, ...incident } = document
  return { incident_id: _id, ...incident, storm_id: member?.storm_id ?? null }
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
