import type { SweepDocument } from '@backstop/contracts'
import type { Clock } from '@backstop/kit/clock'
import type { OutboxPublisher } from '@backstop/kit/outbox'
import { type ConnectionFault, openConnectionIncident, resolveConnectionIncident } from '@backstop/verdict'
import { type NamedConnection, namesOf } from '../connections/connection-reader.ts'
import type { StandaloneIncidentStore } from './standalone-incident-store.ts'

type OpenIncidents = SweepDocument['open_incidents']

/** Opens and resolves the incidents of connections. At most one incident of each code is open at a time. */
export interface ConnectionIncidents {
  /**
   * @param since when the fault began, in milliseconds since the epoch. Opening twice with the same time gives the same
   * incident.
   * @returns the open incidents afterwards
   */
  open(
    connection: NamedConnection,
    code: ConnectionFault,
    since: number,
    text: string,
    open: OpenIncidents,
  ): Promise<OpenIncidents>
  resolve(connection: NamedConnection, code: ConnectionFault, open: OpenIncidents): Promise<OpenIncidents>
}

export interface ConnectionIncidentsOptions {
  readonly incidents: StandaloneIncidentStore
  readonly publisher: OutboxPublisher
  readonly clock: Clock
}

export function createConnectionIncidents({
  incidents,
  publisher,
  clock,
}: ConnectionIncidentsOptions): ConnectionIncidents {
  return {
    async open(connection, code, since, text, open) {
      if (open[code] !== undefined) return open
      const change = openConnectionIncident(
        { id: connection._id, projectId: connection.project_id, name: connection.name, names: namesOf(connection) },
        code,
        since,
        text,
        clock.now(),
      )
      await publisher.publish([await incidents.open(change)])
      return { ...open, [code]: change.incident.incident_id }
    },
    async resolve(connection, code, open) {
      const id = open[code]
      if (id === undefined) return open
      const known = await incidents.find(id)
      const change =
        known === undefined ? undefined : resolveConnectionIncident(known, namesOf(connection), clock.now())
      // If another writer has resolved the incident, e.g. a person, only outbox entries of a write before a crash
      // remain to be published.
      const pending =
        (change === undefined ? undefined : await incidents.replace(change)) ?? (await incidents.pendingOf(id))
      await publisher.publish([pending])
      const { [code]: _resolved, ...rest } = open
      return rest
    },
  }
}
