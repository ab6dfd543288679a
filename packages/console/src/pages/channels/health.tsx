import type { AlertChannel } from '@backstop/client'
import type { ReactNode } from 'react'
import { Badge } from '../../parts/badges.tsx'
import { Time } from '../../parts/time.tsx'

/** The state of a channel as one word. */
export function ChannelBadge({ channel: { enabled, health } }: { channel: AlertChannel }) {
  if (health.state === 'disabled') return <Badge tone="alarm">Disabled</Badge>
  if (!enabled) return <Badge tone="quiet">Switched off</Badge>
  if (health.state === 'failing') return <Badge tone="alarm">Failing</Badge>
  if (health.held_until !== null) return <Badge tone="waits">Paused</Badge>
  if (health.warning !== null) return <Badge tone="waits">Gets few alerts</Badge>
  return health.state === 'unused' ? <Badge tone="quiet">Not used yet</Badge> : <Badge tone="good">Works</Badge>
}

/** The health of a channel in sentences: whether alerts arrive, why not, and what happens next. */
export function HealthSentences({ channel }: { channel: AlertChannel }) {
  return (
    <div dir="auto">
      {sentencesOf(channel).map(([key, text]) => (
        <p key={key}>{text}</p>
      ))}
    </div>
  )
}

function sentencesOf({ enabled, health }: AlertChannel): [string, ReactNode][] {
  const lines: [string, ReactNode | undefined][] = [
    ['state', stateSentence(enabled, health)],
    ['error', health.state !== 'healthy' && health.last_error !== null ? health.last_error : undefined],
    [
      'held',
      health.held_until === null ? undefined : (
        <>
          Paused: the next attempt is <Time at={health.held_until} />. {health.held_reason}.
        </>
      ),
    ],
    ['warning', health.warning === null ? undefined : `${health.warning}.`],
  ]
  return lines.filter((line): line is [string, ReactNode] => line[1] !== undefined)
}

function stateSentence(enabled: boolean, health: AlertChannel['health']): ReactNode {
  if (health.state === 'disabled')
    return (
      <>
        Disabled since <Time at={health.disabled_at} />: {health.disabled_reason}. Repair the receiver, then enable the
        channel and replay what it missed.
      </>
    )
  if (!enabled) return 'Switched off: it gets no alerts.'
  if (health.state === 'failing')
    return (
      <>
        Every attempt failed since <Time at={health.failing_since} />. After five days of failures only, the channel is
        disabled.
      </>
    )
  if (health.state === 'unused') return 'Nothing was sent yet. Send a test to see whether it arrives.'
  return (
    <>
      Works: {formatRate(health.success_rate)}the last message arrived <Time at={health.last_success_at} />.
    </>
  )
}

function formatRate(rate: number | null): string {
  if (rate === null) return ''
  return `${new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 }).format(rate)} of the attempts of 7 days succeeded, `
}
