import type { ChannelDocument } from '@backstop/channels'
import type { ChannelAudience, ProjectFacts } from '@backstop/channels/deliver'
import {
  type ChannelFilter,
  DEFAULT_TIME_ZONE,
  type ProjectDocument,
  type SilenceDocument,
  type SuppressionDocument,
} from '@backstop/contracts'

/** A channel with its health and the facts of its project. */
export interface ChannelRecord {
  readonly channel: ChannelDocument
  /** Why the health check disabled the channel; null if it did not. */
  readonly disabledReason: string | null
  readonly project: ProjectFacts
  /** Ids of the deleted connections of the project: their alerts contain no personal data. */
  readonly deletedConnections: ReadonlySet<string>
}

/** The fields of a channel that fan-out needs. */
export interface SubscribedChannel {
  readonly channelId: string
  readonly name: string
  readonly projectId: string
  readonly events: readonly string[]
  /** Limits the alerts of the channel; null for every alert of its events. */
  readonly filter: ChannelFilter | null
  readonly audience: ChannelAudience
  /** True if the channel may show names and e-mail addresses of customers. */
  readonly showsPersonalData: boolean
}

/** The names of a project, its connections and its actors. */
export interface ProjectNames {
  readonly name: string
  readonly connections: ReadonlyMap<string, string>
  /** As in `ChannelRecord`. */
  readonly deletedConnections: ReadonlySet<string>
  /** The names that people gave to actors, by the id of the actor. */
  readonly actors: ReadonlyMap<string, string>
}

/** The fields of a silence that fan-out needs. */
export type KnownSilence = Pick<SilenceDocument, '_id' | 'connection_id' | 'created_at' | 'ends_at'>

/** The connections of alerts, and the period in which the alerts were raised. */
export interface SilenceQuestion {
  readonly connectionIds: readonly string[]
  readonly from: Date
  readonly to: Date
}

/**
 * Reads `channels`, `projects`, `connections`, `actors` and `silences` (owned by admin-api), `channel_health`, `suppressions` and
 * `erased_actions` (owned by the notifier).
 * Every call is one read for any number of ids.
 */
export interface ChannelStore {
  /**
   * The enabled and undeleted channels of these projects, including channels that the health check disabled: their
   * alerts become dead deliveries, which a person sees and can send again.
   */
  findSubscribedChannels(projectIds: readonly string[]): Promise<readonly SubscribedChannel[]>
  /** The names of these projects, of their connections and of their actors, by project id. */
  findNames(projectIds: readonly string[]): Promise<ReadonlyMap<string, ProjectNames>>
  /** The silences of these connections that overlap the period. */
  findSilences(question: SilenceQuestion): Promise<readonly KnownSilence[]>
  /** The ids of those of these actions whose customer was erased. */
  findErasedActions(actionIds: readonly string[]): Promise<ReadonlySet<string>>
  /** The existing channels with these ids, including deleted ones. */
  findChannels(channelIds: readonly string[]): Promise<readonly ChannelRecord[]>
}

/** The project's settings and the suppressed addresses, as channels need them. */
export function projectFacts(
  project: Pick<ProjectDocument, 'branding' | 'time_zone'> | undefined,
  suppressions: readonly Pick<SuppressionDocument, 'address' | 'reason'>[],
): ProjectFacts {
  return {
    branding: project?.branding ?? {},
    timeZone: project?.time_zone ?? DEFAULT_TIME_ZONE,
    suppressed: new Map(suppressions.flatMap(({ address, reason }) => (reason === null ? [] : [[address, reason]]))),
  }
}
