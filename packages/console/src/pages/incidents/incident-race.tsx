import type { Incident } from '@backstop/client'
import { type ReactNode, useState } from 'react'
import { LostRace } from '../../parts/form/index.ts'
import { Time } from '../../parts/show/index.ts'
import { type Change, isPossible } from './use-incident-change.ts'
import { RESOLVE_REASONS, resolutionOf } from './words.ts'

interface Props {
  incident: Incident
  lost: Change
  /** True while the person's own change is sent. Its live update comes before its answer, and is not somebody else's change. */
  isBusy: boolean
  onKeepTheirs: () => void
  onApplyYours: () => void
}

/** Shows the change that was refused beside the incident as it is now. */
export function IncidentRace({ incident, lost, isBusy, onKeepTheirs, onApplyYours }: Props) {
  const [theirs, setTheirs] = useState(incident)
  if (!isBusy && theirs !== incident) setTheirs(incident)
  return (
    <LostRace
      theirs={<StateSentence incident={theirs} />}
      yours={wordsOf(lost)}
      onKeepTheirs={onKeepTheirs}
      {...(isPossible(lost, theirs) ? { onApplyYours } : {})}
    />
  )
}

/** Who brought the incident into its state, and when. */
export function StateSentence({ incident }: { incident: Incident }): ReactNode {
  const { state, acknowledged_by, acknowledged_at, resolved_by, resolved_at, note, opened_at, assignee } = incident
  const owner = assignee == null ? '' : `, assigned to ${assignee}`
  if (state === 'open') {
    return (
      <span dir="auto">
        Open since <Time at={opened_at} />
        {owner}
      </span>
    )
  }
  if (state === 'acknowledged') {
    return (
      <span dir="auto">
        Acknowledged{acknowledged_by == null ? '' : ` by ${acknowledged_by}`}, <Time at={acknowledged_at} />
        {owner}
      </span>
    )
  }
  const resolution = resolutionOf(incident)
  return (
    <span dir="auto">
      Resolved{resolved_by === null ? '' : ` by ${resolved_by}`}, <Time at={resolved_at} />
      {resolution === undefined ? '' : `: ${resolution}`}
      {note == null ? '' : `. Note: ${note}`}
    </span>
  )
}

function wordsOf(change: Change): string {
  switch (change.kind) {
    case 'acknowledge':
      return 'Acknowledge'
    case 'resolve': {
      const reason = RESOLVE_REASONS.find(({ value }) => value === change.resolution.reason)?.label
      const note = change.resolution.note === undefined ? '' : `. Note: ${change.resolution.note}`
      return `Resolve: ${reason?.toLowerCase()}${note}`
    }
    case 'assign':
      return change.assignee === null ? 'Remove the owner' : `Assign to ${change.assignee}`
    case 'reopen':
      return 'Open again'
    case 'comment':
      return `Comment: ${change.text}`
    default:
      throw change satisfies never
  }
}
