import type { AlertChannel } from '@backstop/client'
import { type Finding, finding } from './finding.ts'

export interface ChannelFacts {
  readonly channel_id: string
  readonly project_id: string
  readonly name: string
  /** False if a person switched it off, or its failures disabled it. */
  readonly enabled: boolean
  readonly health: Pick<
    AlertChannel['health'],
    'state' | 'failing_since' | 'last_error' | 'warning' | 'disabled_at' | 'disabled_reason'
  >
}

/** How long a channel may deliver nothing before it is a warning, in milliseconds. A single attempt often fails. */
const WARN_AFTER_MS = 60_000
/** How long before it is an error: as long as before its incident. */
const NOT_DELIVERING_MS = 15 * 60_000

/** The channels on which nobody is alerted. */
export function judgeChannels(channels: readonly ChannelFacts[], nowMs: number): Finding[] {
  return channels.flatMap(channel => {
    const one = judgeDisabled(channel) ?? judgeFailing(channel, nowMs)
    if (one === undefined) return []
    const others = channels.some(
      other => other.project_id === channel.project_id && other.enabled && other.health.state !== 'failing',
    )
    return [others ? one : { ...one, what: `${one.what}. No other channel of the project works: nobody is alerted` }]
  })
}

function judgeDisabled(channel: ChannelFacts): Finding | undefined {
  const { channel_id, health } = channel
  if (health.disabled_at === null) return undefined
  return finding(
    'channel_disabled',
    `${nameOf(channel)} is disabled since ${health.disabled_at}: ${health.disabled_reason ?? 'unknown reason'}`,
    `Repair the receiver, then backstop channels enable ${channel_id}, then backstop replay deliveries ${channel_id} --from 7d`,
  )
}

function judgeFailing(channel: ChannelFacts, nowMs: number): Finding | undefined {
  const { channel_id, enabled, health } = channel
  if (!enabled || health.state !== 'failing' || health.failing_since === null) return undefined
  // A channel with a warning, such as a mail channel without a usable address, does not recover by itself.
  const failingMs = health.warning === null ? nowMs - Date.parse(health.failing_since) : Number.POSITIVE_INFINITY
  if (failingMs < WARN_AFTER_MS) return undefined
  const found = finding(
    'channel_failing',
    `${nameOf(channel)} has delivered nothing since ${health.failing_since}: ${health.warning ?? health.last_error ?? 'unknown reason'}`,
    `Remove the cause, then backstop channels test ${channel_id}, then backstop replay deliveries ${channel_id} --from 7d`,
  )
  return failingMs < NOT_DELIVERING_MS ? { ...found, severity: 'warning' } : found
}

function nameOf({ channel_id, project_id, name }: ChannelFacts): string {
  return `The channel ${name} (${channel_id}) of the project ${project_id}`
}
