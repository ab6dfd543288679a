import {
  crashPoint,
  createWorkLoop,
  type OutboxPublisher,
  type PendingOutbox,
  unavailable,
  type WorkLoop,
  type WorkLoopOptions,
} from '@backstop/kit'
import { openChannelIncident, type ResolveChannelIncident, resolveChannelIncident } from '../domain/channel-incident.ts'
import type { ChannelIncidentStore } from '../store/store.ts'

export interface ChannelIncidentOptions
  extends Pick<WorkLoopOptions<'command'>, 'bus' | 'producer' | 'codec' | 'clock' | 'logger' | 'onFatal'> {
  readonly incidents: ChannelIncidentStore
  readonly publisher: OutboxPublisher
}

/** Opens and resolves the incidents of channels that were disabled, as the notifier wishes. Other commands are passed over. */
export function createChannelIncidents(options: ChannelIncidentOptions): WorkLoop {
  const { incidents, publisher, clock, logger } = options
  return createWorkLoop<'command'>({
    ...options,
    groupId: 'reconciler.commands',
    topics: { commands: 'command' },
    deadTopic: 'inbound.dead',
    async handle(messages) {
      for (const { message: command } of messages) {
        if (command.kind !== 'open_channel_incident' && command.kind !== 'resolve_channel_incident') continue
        const { kind, command_id, project_id, incident_id, channel_id } = command
        const ids = { kind, command_id, project_id, incident_id, channel_id }
        let pending: PendingOutbox
        let reason = 'opened'
        if (kind === 'open_channel_incident') pending = await incidents.open(openChannelIncident(command, clock.now()))
        else ({ pending, reason } = await resolve(command, options))
        crashPoint('reconciler.after-channel-incident')
        await publisher.publish([pending])
        logger.info({ ...ids, reason }, 'command.done')
      }
    },
  })
}

/** Somebody else may write an incident meanwhile: who loses looks again, this often. */
const MAX_ROUNDS = 5

async function resolve(
  command: ResolveChannelIncident,
  { incidents, clock }: ChannelIncidentOptions,
): Promise<{ pending: PendingOutbox; reason: string }> {
  const { incident_id } = command
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const resolution = resolveChannelIncident(command, await incidents.find(incident_id), clock.now())
    // What a crash left in its outbox goes out all the same.
    if (resolution.kind === 'keep') {
      return { pending: await incidents.pendingOf(incident_id), reason: resolution.reason }
    }
    const pending = await incidents.replace(resolution.told)
    if (pending !== undefined) return { pending, reason: resolution.reason }
  }
  throw unavailable(`The incident that ${MAX_ROUNDS} writers fight over`, undefined)
}
