import type { Action, ActionDocument, StoredIncident } from '@backstop/contracts'
import type { OpenActionPosition, OpenActionReader } from '../../src/commands/open-action-store.ts'

/** Reads actions with an open incident in memory, for simulations. */
export function createMemoryOpenActions(
  incidents: ReadonlyMap<string, StoredIncident>,
  actions: ReadonlyMap<string, Action>,
): OpenActionReader {
  return {
    page: async (projectId, after, limit) =>
      [...incidents.values()]
        .filter(({ project_id, code }) => project_id === projectId && code === 'UNEXPECTED_ACTION')
        .filter(({ state }) => state !== 'resolved')
        .map(incident => ({ openedAt: Date.parse(incident.opened_at), incidentId: incident.incident_id, incident }))
        .sort(byPosition)
        .filter(place => after === undefined || byPosition(after, place) < 0)
        .slice(0, limit)
        .flatMap(({ openedAt, incidentId, incident }) => {
          const found = actions.get(incident.action_id ?? '')
          return found === undefined ? [] : [{ openedAt, incidentId, action: toActionDocument(found) }]
        }),
    byIds: async ids => ids.flatMap(id => actions.get(id) ?? []).map(toActionDocument),
  }
}

function toActionDocument({ action_id: _id, ...rest }: Action): ActionDocument {
  return { _id, ...rest, first_seen: new Date(rest.first_seen_at) }
}

function byPosition(a: OpenActionPosition, b: OpenActionPosition): number {
  return a.openedAt - b.openedAt || (a.incidentId < b.incidentId ? -1 : a.incidentId > b.incidentId ? 1 : 0)
}
