/** What decides whether a channel may be delivered to. */
export interface ChannelState {
  readonly enabled: boolean
  readonly deleted: boolean
  /** Why the channel's health disabled it; null while it has not. */
  readonly disabledReason: string | null
}

export type ChannelVerdict =
  | { kind: 'works'; reason: 'enabled' | 'test' }
  | { kind: 'ends'; reason: 'channel_deleted' | 'channel_disabled'; text: string }

/**
 * Whether a delivery may go to its channel now. A test may go to a disabled channel: that is how a person finds out
 * whether it works again.
 * @param channel undefined when there is no such channel (any more)
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
