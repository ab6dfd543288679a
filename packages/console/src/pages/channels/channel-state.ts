import type { AlertChannel } from '@backstop/client'

export interface ChannelState {
  readonly word:
    | 'Disabled'
    | 'Switched off'
    | 'Failing'
    | 'Paused'
    | 'Unreliable'
    | 'Gets few alerts'
    | 'Not used yet'
    | 'Works'
  readonly tone: 'alarm' | 'waits' | 'quiet' | 'good'
}

/** A channel is unreliable if a smaller share of its attempts of 7 days succeeded, although the newest one did. */
const RELIABLE_SHARE = 0.9

/** The state of a channel. The list, its page and the overview all say this one. */
export function stateOf({ enabled, health }: Pick<AlertChannel, 'enabled' | 'health'>): ChannelState {
  if (health.state === 'disabled') return { word: 'Disabled', tone: 'alarm' }
  if (!enabled) return { word: 'Switched off', tone: 'quiet' }
  if (health.state === 'failing') return { word: 'Failing', tone: 'alarm' }
  if (health.held_until !== null) return { word: 'Paused', tone: 'waits' }
  if (health.success_rate !== null && health.success_rate < RELIABLE_SHARE) return { word: 'Unreliable', tone: 'waits' }
  if (health.warning !== null) return { word: 'Gets few alerts', tone: 'waits' }
  return health.state === 'unused' ? { word: 'Not used yet', tone: 'quiet' } : { word: 'Works', tone: 'good' }
}

/** The share of the failed attempts, e.g. `50 % of the attempts of 7 days failed`. */
export function failedShare(successRate: number): string {
  // Never "0 %" of attempts that failed.
  const percent = Math.max(1, Math.round((1 - successRate) * 100))
  return `${percent} % of the attempts of 7 days failed`
}
