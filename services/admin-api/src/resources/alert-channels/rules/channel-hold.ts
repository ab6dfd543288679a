import type { ChannelHealthDocument } from '@backstop/contracts'

/** A pause of a channel that has not ended. */
export interface ShownHold {
  readonly until: Date
  /** The cause, for people to read: a sentence without its full stop. */
  readonly reason: string
}

const REASONS = {
  failing: 'The last attempts at this channel failed, one after the other',
  throttled: 'The receiver asked for a pause, or reported overload',
} as const

/** The pause of the channel at `now`; undefined if it is not paused. A disabled channel is not paused. */
export function holdOf(health: ChannelHealthDocument | undefined, now: Date): ShownHold | undefined {
  const held = health?.held
  if (health === undefined || held === undefined || health.disabled_at !== null || held.until <= now) return undefined
  return { until: held.until, reason: REASONS[held.reason] }
}
