import type { AlertChannel } from '@backstop/client'
import type { ReactNode } from 'react'
import { Badge, Time } from '../../parts/show/index.ts'
import { failedShare, stateOf } from './channel-state.ts'

/** The state of a channel as one word. */
export function ChannelBadge({ channel }: { channel: AlertChannel }) {
  const { word, tone } = stateOf(channel)
  return <Badge tone={tone}>{word}</Badge>
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

function sentencesOf(channel: AlertChannel): [string, ReactNode][] {
  const { health } = channel
  const lines: [string, ReactNode | undefined][] = [
    ['state', stateSentence(channel)],
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

function stateSentence(channel: AlertChannel): ReactNode {
  const { enabled, health } = channel
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
  const { word } = stateOf(channel)
  const failed = health.success_rate === null || health.success_rate === 1 ? '' : failedShare(health.success_rate)
  return (
    <>
      {word === 'Works' || word === 'Unreliable' ? `${word}: ` : ''}
      {failed === '' ? '' : `${failed}. `}
      {word === 'Works' && failed === '' ? 'the' : 'The'} last message arrived <Time at={health.last_success_at} />.
    </>
  )
}
