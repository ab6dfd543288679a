import type { StoredIncident, TimedOutboxEntry } from '@backstop/contracts'
import type { IncidentChange } from '@backstop/verdict'
import type { StandaloneIncidentStore } from '../../src/incidents/standalone-incident-store.ts'

/**
 * Incidents without an action in memory, for simulations.
 * @param incidentOutboxes their outbox entries, by the incident's id
 */
export function createMemoryStandaloneIncidents(
  incidents: Map<string, StoredIncident>,
  incidentOutboxes: Map<string, readonly TimedOutboxEntry[]>,
): StandaloneIncidentStore {
  const pendingOf = (id: string) => ({ documentId: id, entries: incidentOutboxes.get(id) ?? [] })
  const put = ({ incident, entries }: IncidentChange) => {
    const id = incident.incident_id
    incidents.set(id, incident)
    incidentOutboxes.set(id, [...(incidentOutboxes.get(id) ?? []), ...entries])
    return pendingOf(id)
  }
  return {
    open: async next => (incidents.has(next.incident.incident_id) ? pendingOf(next.incident.incident_id) : put(next)),
    find: async id => incidents.get(id),
    findAll: async ids => ids.flatMap(id => incidents.get(id) ?? []),
    replace: async next => {
      const current = incidents.get(next.incident.incident_id)
      return current?.version === next.incident.version - 1 ? put(next) : undefined
    },
    pendingOf: async id => pendingOf(id),
    outbox: {
      pending: async (writtenBefore, limit) =>
        [...incidentOutboxes]
          .filter(([, entries]) => entries.some(entry => entry.at < writtenBefore))
          .slice(0, limit)
          .map(([id]) => pendingOf(id)),
      published: async documents => {
        for (const { documentId, entryIds } of documents) {
          const left = (incidentOutboxes.get(documentId) ?? []).filter(entry => !entryIds.includes(entry.id))
          incidentOutboxes.set(documentId, left)
        }
      },
    },
  }
}
