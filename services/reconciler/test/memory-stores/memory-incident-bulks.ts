import type { ConnectionDocument, IncidentBulkDocument, StoredIncident } from '@backstop/contracts'
import type { IncidentBulkStore } from '../../src/commands/incident-bulk-store.ts'

/** Bulk changes in memory. */
export function createMemoryIncidentBulks(
  incidents: ReadonlyMap<string, StoredIncident>,
  connections: ReadonlyMap<string, ConnectionDocument>,
): IncidentBulkStore {
  const bulks = new Map<string, IncidentBulkDocument>()
  return {
    begin: async bulk => {
      if (!bulks.has(bulk._id)) bulks.set(bulk._id, bulk)
    },
    due: async now => [...bulks.values()].find(({ state, next_page_at }) => state === 'running' && next_page_at <= now),
    advance: async ({ _id, version }, fields) => {
      const known = bulks.get(_id)
      if (known?.version !== version) return undefined
      const next = { ...known, ...fields, version: version + 1 }
      bulks.set(_id, next)
      return next
    },
    page: async ({ project_id, selection: { connection_id, code, from, to }, cursor }, limit) => {
      const placeOf = (incident: StoredIncident) => [incident.opened_at, incident.incident_id].join()
      const after = cursor === null ? null : [cursor.opened.toISOString(), cursor.incident_id].join()
      return [...incidents.values()]
        .filter(
          one =>
            one.project_id === project_id &&
            (connection_id === undefined || one.connection_id === connection_id) &&
            (code === undefined || one.code === code) &&
            (from === undefined || Date.parse(one.opened_at) >= Date.parse(from)) &&
            Date.parse(one.opened_at) < Date.parse(to) &&
            (after === null || placeOf(one) > after),
        )
        .sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
        .slice(0, limit)
    },
    deletedConnections: async bulkIdOf =>
      [...connections.values()]
        .filter(({ _id, status }) => status === 'deleted' && !bulks.has(bulkIdOf(_id)))
        .map(({ _id, project_id }) => ({ id: _id, projectId: project_id })),
  }
}
