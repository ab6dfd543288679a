import {
  type ChannelIncidentEnd,
  type Command,
  deterministicId,
  isoTime,
  type TimedOutboxEntry,
} from '@backstop/contracts'

/** The names by which an incident about a channel is found and shown. */
export interface ChannelIdentity {
  readonly channelId: string
  readonly projectId: string
  readonly name: string
}

/** A command to the owner of incidents, which is stored with the change of the channel that causes it. */
export interface IncidentOrder {
  readonly incidentId: string
  readonly entry: TimedOutboxEntry
}

/**
 * Opens an incident about a channel.
 * @param fault disabled: no more attempts are made. failing: attempts go on, and deliver nothing
 */
export function openChannelIncident(
  { channelId, projectId, name }: ChannelIdentity,
  fault: 'disabled' | 'failing',
  reason: string,
  atMs: number,
): IncidentOrder {
  const at = isoTime(atMs)
  const incidentId = deterministicId('incident', `channel_${fault}`, channelId, at)
  const command: Command = {
    command_id: deterministicId('command', 'open_channel_incident', incidentId),
    project_id: projectId,
    requested_at: at,
    kind: 'open_channel_incident',
    incident_id: incidentId,
    channel_id: channelId,
    channel_name: name,
    reason,
    // Reconcilers of earlier versions know no fault, and take none for a disabled channel.
    ...(fault === 'disabled' ? {} : { fault }),
  }
  return { incidentId, entry: toOutboxEntry(command, channelId, atMs) }
}

/** Resolves an incident about a channel. @param outcome left out: the channel was enabled again */
export function resolveChannelIncident(
  { channelId, projectId }: Pick<ChannelIdentity, 'channelId' | 'projectId'>,
  incidentId: string,
  atMs: number,
  outcome?: ChannelIncidentEnd,
): IncidentOrder {
  const command: Command = {
    command_id: deterministicId('command', 'resolve_channel_incident', incidentId),
    project_id: projectId,
    requested_at: isoTime(atMs),
    kind: 'resolve_channel_incident',
    incident_id: incidentId,
    channel_id: channelId,
    ...(outcome === undefined ? {} : { outcome }),
  }
  return { incidentId, entry: toOutboxEntry(command, channelId, atMs) }
}

/**
 * The message key is the channel id, so that the command that opens an incident comes before the command that resolves
 * it.
 */
function toOutboxEntry(command: Command, channelId: string, atMs: number): TimedOutboxEntry {
  return { id: command.command_id, topic: 'commands', key: channelId, message: command, at: atMs }
}
