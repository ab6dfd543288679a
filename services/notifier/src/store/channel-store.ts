import type { ChannelDocument } from '@backstop/channels'
import type { ProjectFacts } from '@backstop/channels/deliver'
import type { ProjectDocument, SuppressionDocument } from '@backstop/contracts'
import type { Listener } from '../fan-out/rules/fan-out.ts'

/** A channel with what its health and its project say. */
export interface ChannelRecord {
  readonly channel: ChannelDocument
  /** Why its health disabled it; null while it has not. */
  readonly disabledReason: string | null
  readonly project: ProjectFacts
}

/**
 * Reads `channels` and `projects` (admin-api's), `channel_health` and `suppressions` (ours). Every call is one read, however many ids it is given.
 */
export interface ChannelStore {
  /**
   * The channels of these projects that are switched on and not deleted. One that its health disabled is among them: what
   * is raised meanwhile ends as a dead delivery, which is seen and can be sent again.
   */
  listenersOf(projectIds: readonly string[]): Promise<readonly Listener[]>
  /** Those of these channels that exist, deleted ones too. */
  findChannels(channelIds: readonly string[]): Promise<readonly ChannelRecord[]>
}

/** What is read of a project and of suppressed addresses, as channels take it. */
export function projectFacts(
  project: Pick<ProjectDocument, 'branding'> | undefined,
  suppressions: readonly Pick<SuppressionDocument, 'address' | 'reason'>[],
): ProjectFacts {
  return {
    branding: project?.branding ?? {},
    suppressed: new Map(suppressions.flatMap(({ address, reason }) => (reason === null ? [] : [[address, reason]]))),
  }
}
