import type { ChannelHealthDocument } from '@backstop/contracts'
import type { OutboxSource, PendingOutbox } from '@backstop/kit'
import type { DisableOrder, EnableDecision, HealthReport } from '../health/rules/channel-health.ts'

/** What deliveries told about one channel, in the order in which they ended. */
export interface ChannelReports {
  readonly channelId: string
  readonly projectId: string
  readonly news: readonly HealthReport[]
}

/** The only writer of `channel_health`. */
export interface HealthStore {
  /**
   * Records news of many channels in one write. Telling the same news again changes nothing but the day's numbers, which
   * a database that went away in the middle may therefore count twice.
   */
  record(channels: readonly ChannelReports[]): Promise<void>
  /** Those of these channels that are not disabled and have done nothing but fail since that time or longer. */
  failingSince(channelIds: readonly string[], sinceMs: number): Promise<readonly ChannelHealthDocument[]>
  /**
   * Disables channels; one that is disabled already keeps its first reason.
   * @returns the outboxes of those that this call, or the same one before, disabled
   */
  disable(orders: readonly DisableOrder[]): Promise<readonly PendingOutbox[]>
  find(channelId: string): Promise<ChannelHealthDocument | undefined>
  /**
   * Forgives a channel's failures, unless something else disabled it since it was read.
   * @returns what lies in its outbox then; undefined when it was refused
   */
  enable(channelId: string, decision: Extract<EnableDecision, { kind: 'enable' }>): Promise<PendingOutbox | undefined>
  readonly outbox: OutboxSource
}
