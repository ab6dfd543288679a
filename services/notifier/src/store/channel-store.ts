import type { ChannelDocument } from '@backstop/contracts'
import type { Listener } from '../domain/fan-out.ts'

/** A channel with what its health says. */
export interface ChannelRecord {
  readonly channel: ChannelDocument
  /** Why its health disabled it; null while it has not. */
  readonly disabledReason: string | null
}

/** Reads `channels` (admin-api's) and `channel_health` (ours). Every call is one read, however many ids it is given. */
export interface ChannelStore {
  /** The channels of these projects that work: switched on, not deleted, not disabled by their health. */
  listenersOf(projectIds: readonly string[]): Promise<readonly Listener[]>
  /** Those of these channels that exist, deleted ones too. */
  findChannels(channelIds: readonly string[]): Promise<readonly ChannelRecord[]>
}
