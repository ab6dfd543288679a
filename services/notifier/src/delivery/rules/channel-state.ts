/** The facts that decide whether a channel may receive deliveries. */
export interface ChannelState {
  readonly enabled: boolean
  readonly deleted: boolean
  /** Why the health check disabled the channel; null if it did not. */
  readonly disabledReason: string | null
}

export type ChannelVerdict =
  | { kind: 'works'; reason: 'enabled' | 'test' }
  | { kind: 'ends'; reason: 'channel_deleted' | 'channel_disabled'; text: string }

/**
 * Decides whether a delivery may be sent to its channel now. A test may be sent to a disabled channel, so that a person
 * can check whether it works again.
 * @param channel undefined if the channel does not exist
 */
export function judgeChannel(channel: ChannelState | undefined, test: boolean): ChannelVerdict {
  if (channel === undefined || channel.deleted) {
    return { kind: 'ends', reason: 'channel_deleted', text: 'The channel was deleted before this was delivered' }
  }
  if (test) return { kind: 'works', reason: 'test' }
  if (!channel.enabled) {
    return { kind: 'ends', reason: 'channel_disabled', text: 'The channel was switched off before this was delivered' }
  }
  if (channel.disabledReason !== null) {
    return { kind: 'ends', reason: 'channel_disabled', text: `The channel is disabled: ${channel.disabledReason}` }
  }
  return { kind: 'works', reason: 'enabled' }
}
