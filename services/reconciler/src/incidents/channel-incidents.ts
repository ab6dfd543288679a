import type { Command } from '@backstop/contracts'
import { type Clock, crashPoint, lostRace, type OutboxPublisher, type PendingOutbox } from '@backstop/kit'
import type { StandaloneIncidentStore } from '../store/store.ts'
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
  readonly publisher: OutboxPublisher
  readonly clock: Clock
}

/** Attempts to write an incident that another process may write too. */
const MAX_ROUNDS = 5

export function createChannelIncidents({ incidents, publisher, clock }: ChannelIncidentOptions): ChannelIncidents {
  async function tell(pending: PendingOutbox): Promise<void> {
    crashPoint('reconciler.after-channel-incident')
    await publisher.publish([pending])
  }
  return {
    async open(command) {
      await tell(await incidents.open(openChannelIncident(command, clock.now())))
      return 'opened'
    },
    async resolve(command) {
      const { incident_id } = command
      for (let round = 0; round < MAX_ROUNDS; round++) {
        const resolution = resolveChannelIncident(command, await incidents.find(incident_id), clock.now())
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
