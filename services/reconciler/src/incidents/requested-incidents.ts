import type { Command } from '@backstop/contracts'
import type { Clock } from '@backstop/kit/clock'
import { lostRace } from '@backstop/kit/errors'
import type { OutboxPublisher } from '@backstop/kit/outbox'
import {
  type OpenIncident,
  openRequestedIncident,
  type ResolveIncident,
  resolveRequestedIncident,
} from '@backstop/verdict'
import type { ConnectionReader } from '../connections/connection-reader.ts'
import type { StandaloneIncidentStore } from './standalone-incident-store.ts'

/**
 * Opens and resolves the incidents that the notifier and admin-api request by commands. Each method returns the result as a text for the
 * log.
 */
export interface RequestedIncidents {
  open(command: OpenIncident): Promise<string>
  resolve(command: ResolveIncident): Promise<string>
}

export interface RequestedIncidentsOptions {
  readonly incidents: Pick<StandaloneIncidentStore, 'open' | 'find' | 'replace' | 'pendingOf'>
  readonly connections: Pick<ConnectionReader, 'projectName'>
  readonly publisher: OutboxPublisher
  readonly clock: Clock
}

/** Attempts to write an incident that another process may write too. */
const MAX_ROUNDS = 5

export function createRequestedIncidents(options: RequestedIncidentsOptions): RequestedIncidents {
  const { incidents, connections, publisher, clock } = options
  const namesOf = async ({ project_id }: Command) => ({
    project: await connections.projectName(project_id),
    connection: null,
  })
  return {
    async open(command) {
      const pending = await incidents.open(openRequestedIncident(command, clock.now(), await namesOf(command)))
      await publisher.publish([pending])
      return 'opened'
    },
    async resolve(command) {
      const { incident_id } = command
      const names = await namesOf(command)
      for (let round = 0; round < MAX_ROUNDS; round++) {
        const known = await incidents.find(incident_id)
        const resolution = resolveRequestedIncident(command, known, clock.now(), names)
        // The outbox may still hold entries of a write before a crash. They are published now.
        const isKept = resolution.kind === 'keep'
        const pending = isKept ? await incidents.pendingOf(incident_id) : await incidents.replace(resolution.change)
        if (pending === undefined) continue
        await publisher.publish([pending])
        return resolution.reason
      }
      throw lostRace(`incident ${incident_id}`)
    },
  }
}
