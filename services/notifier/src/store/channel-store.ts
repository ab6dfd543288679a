import type { ChannelDocument } from '@backstop/channels'
import type { ProjectFacts } from '@backstop/channels/deliver'
import type { ProjectDocument, SuppressionDocument } from '@backstop/contracts'
import type { ProjectNames } from '../fan-out/rules/complete-alert.ts'
import type { SubscribedChannel } from '../fan-out/rules/fan-out.ts'
import type { KnownSilence, SilenceQuestion } from '../fan-out/rules/silence.ts'

/** A channel with its health and the facts of its project. */
export interface ChannelRecord {
  readonly channel: ChannelDocument
  /** Why the health check disabled the channel; null if it did not. */
  readonly disabledReason: string | null
  readonly project: ProjectFacts
  /** The deleted connections of the project. */
  readonly deletedConnectionIds: ReadonlySet<string>
}

/**
 * Reads `channels`, `projects`, `connections` and `silences` (owned by admin-api), `channel_health` and `suppressions` (owned by the
 * notifier).
 * Every call is one read for any number of ids.
 */
export interface ChannelStore {
  /**
   * The enabled and undeleted channels of these projects, including channels that the health check disabled: their
   * alerts become dead deliveries, which a person sees and can send again.
   */
  findSubscribedChannels(projectIds: readonly string[]): Promise<readonly SubscribedChannel[]>
  /** The names of these projects and of their connections, by project id. */
  findNames(projectIds: readonly string[]): Promise<ReadonlyMap<string, ProjectNames>>
  /** The silences of these connections that overlap the period. */
  findSilences(question: SilenceQuestion): Promise<readonly KnownSilence[]>
  /** The existing channels with these ids, including deleted ones. */
  findChannels(channelIds: readonly string[]): Promise<readonly ChannelRecord[]>
}

/** The project's settings and the suppressed addresses, as channels need them. */
export function projectFacts(
  project: Pick<ProjectDocument, 'branding'> | undefined,
  suppressions: readonly Pick<SuppressionDocument, 'address' | 'reason'>[],
): ProjectFacts {
  return {
    branding: project?.branding ?? {},
    suppressed: new Map(suppressions.flatMap(({ address, reason }) => (reason === null ? [] : [[address, reason]]))),
  }
}
