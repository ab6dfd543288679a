import type { ChannelHealthDocument, ChannelHold, ChannelUnreached } from '@backstop/contracts'
import type { OutboxSource, PendingOutbox } from '@backstop/kit/outbox'
import type { DisableOrder, EnableDecision, HealthReport } from './rules/channel-health.ts'
import type { FailingOrder } from './rules/failing-channel.ts'

/** The health reports of one channel, in the order of its attempts. */
export interface ChannelReports {
  readonly channelId: string
  readonly projectId: string
  readonly reports: readonly HealthReport[]
}

/** A pause of a channel to record; null: the pause is over. */
export interface HoldOrder {
  readonly channelId: string
  readonly projectId: string
  readonly held: ChannelHold | null
}

/** Whether a mail channel reaches nobody; null: it reaches somebody again. */
export interface ReachOrder {
  readonly channelId: string
  readonly projectId: string
  readonly unreached: ChannelUnreached | null
}

/** A channel with a recorded pause. */
export type HeldChannel = Pick<ChannelHealthDocument, '_id' | 'failing_since' | 'held'>

/** The only writer of `channel_health`. */
export interface HealthStore {
  /**
   * Records reports of many channels in one write. Recording the same reports again changes only the day's numbers, so
   * a lost answer of the database may count a report twice. A success ends a recorded pause that began before it.
   */
  record(channels: readonly ChannelReports[]): Promise<void>
  /** Records pauses of channels, except pauses that began before the last recorded success. */
  recordHolds(orders: readonly HoldOrder[]): Promise<void>
  /** Finds the channels with a recorded pause, among these ids. */
  findHeld(channelIds: readonly string[]): Promise<readonly HeldChannel[]>
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
  /** Finds the channels with an attempt since the last success that delivered nothing, that reach nobody, or with an incident about that. */
  findTroubled(): Promise<readonly ChannelHealthDocument[]>
  /** Records which channels reach nobody. A channel keeps its first time. */
  recordReach(orders: readonly ReachOrder[]): Promise<void>
  /**
   * Opens and resolves incidents about channels that deliver nothing, unless the channel has changed since it was read.
   * @returns the unpublished outboxes of these channels
   */
  changeFailing(orders: readonly FailingOrder[]): Promise<readonly PendingOutbox[]>
  readonly outbox: OutboxSource
}
