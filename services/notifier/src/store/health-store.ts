import type { ChannelHealthDocument } from '@backstop/contracts'
import type { OutboxSource, PendingOutbox } from '@backstop/kit'
import type { DisableOrder, EnableDecision, HealthReport } from '../health/rules/channel-health.ts'

/** The health reports of one channel, in the order of its attempts. */
export interface ChannelReports {
  readonly channelId: string
  readonly projectId: string
  readonly reports: readonly HealthReport[]
}

/** The only writer of `channel_health`. */
export interface HealthStore {
  /**
   * Records reports of many channels in one write. Recording the same reports again changes only the day's numbers, so
   * a lost answer of the database may count a report twice.
   */
  record(channels: readonly ChannelReports[]): Promise<void>
  /** Finds enabled channels with only failed attempts since `sinceMs` or earlier, among these ids. */
  failingSince(channelIds: readonly string[], sinceMs: number): Promise<readonly ChannelHealthDocument[]>
  /**
   * Disables channels; a disabled channel keeps its first reason.
   * @returns the outboxes of the channels that this order disabled, now or in an earlier call
   */
  disable(orders: readonly DisableOrder[]): Promise<readonly PendingOutbox[]>
  find(channelId: string): Promise<ChannelHealthDocument | undefined>
  /**
   * Clears a channel's failures, unless it was disabled again since it was read.
   * @returns the channel's outbox; undefined if the write was refused
   */
  enable(channelId: string, decision: Extract<EnableDecision, { kind: 'enable' }>): Promise<PendingOutbox | undefined>
  readonly outbox: OutboxSource
}
