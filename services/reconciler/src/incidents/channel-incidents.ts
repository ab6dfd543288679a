import type { Command } from '@backstop/contracts'
import { type Clock, crashPoint, lostRace, type OutboxPublisher, type PendingOutbox } from '@backstop/kit'
import type { ConnectionReader, StandaloneIncidentStore } from '../store/store.ts'
import { openChannelIncident, resolveChannelIncident } from './rules/failing-channel.ts'

type Opening = Extract<Command, { kind: 'open_channel_incident' }>
type Resolving = Extract<Command, { kind: 'resolve_channel_incident' }>

/**
 * Opens and resolves the incidents of disabled channels, as commands of the notifier request. Each method returns the
 * result as a text for the log.
 */
export interface ChannelIncidents {
  open(command: Opening): Promise<string>
  resolve(command: Resolving): Promise<string>
}

export interface ChannelIncidentOptions {
  readonly incidents: StandaloneIncidentStore
  readonly connections: Pick<ConnectionReader, 'projectName'>
  readonly publisher: OutboxPublisher
  readonly clock: Clock
}

/** Attempts to write an incident that another process may write too. */
const MAX_ROUNDS = 5

export function createChannelIncidents({
  incidents,
  connections,
  publisher,
  clock,
}: ChannelIncidentOptions): ChannelIncidents {
  const namesOf = async ({ project_id }: Command) => ({
    project: await connections.projectName(project_id),
    connection: null,
  })
  async function tell(pending: PendingOutbox): Promise<void> {
    crashPoint('reconciler.after-channel-incident')
    await publisher.publish([pending])
  }
  return {
    async open(command) {
      await tell(await incidents.open(openChannelIncident(command, clock.now(), await namesOf(command))))
      return 'opened'
    },
    async resolve(command) {
      const { incident_id } = command
      const names = await namesOf(command)
      for (let round = 0; round < MAX_ROUNDS; round++) {
        const resolution = resolveChannelIncident(command, await incidents.find(incident_id), clock.now(), names)
        // The outbox may still hold entries of a write before a crash. They are published now.
        const isKept = resolution.kind === 'keep'
        const pending = isKept ? await incidents.pendingOf(incident_id) : await incidents.replace(resolution.told)
        if (pending === undefined) continue
        await tell(pending)
        return resolution.reason
      }
      throw lostRace(`incident ${incident_id}`)
    },
  }
}
