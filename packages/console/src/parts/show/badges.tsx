import type { Action, Delivery, Incident, ShownOperation } from '@backstop/client'
import classes from './badges.module.css'

type Tone = 'alarm' | 'waits' | 'quiet' | 'good'

/** A state as a word with a shape, so that colour never stands alone. */
export function Badge({ tone, children }: { tone: Tone; children: string }) {
  return (
    <span className={classes.badge} data-tone={tone}>
      <span className={classes.shape} aria-hidden />
      {children}
    </span>
  )
}

const VERDICTS: Record<Action['verdict'], [Tone, string]> = {
  unexplained: ['alarm', 'Unexplained'],
  pending: ['waits', 'Pending'],
  explained: ['quiet', 'Explained'],
  not_alerted: ['quiet', 'Not alerted'],
}

export function VerdictBadge({ verdict }: { verdict: Action['verdict'] }) {
  const [tone, word] = VERDICTS[verdict]
  return <Badge tone={tone}>{word}</Badge>
}

type State = Incident['state'] | Delivery['state'] | ShownOperation['state'] | Action['state']

const STATES: Record<State, [Tone, string]> = {
  open: ['alarm', 'Open'],
  acknowledged: ['waits', 'Acknowledged'],
  resolved: ['quiet', 'Resolved'],
  pending: ['waits', 'Pending'],
  delivered: ['good', 'Delivered'],
  retrying: ['waits', 'Retrying'],
  dead: ['alarm', 'Not delivered'],
  superseded: ['quiet', 'Superseded'],
  requested: ['quiet', 'Requested'],
  approval_pending: ['waits', 'Waits for approval'],
  approved: ['good', 'Approved'],
  declined: ['quiet', 'Declined'],
  expired: ['quiet', 'Expired'],
  executing: ['waits', 'Executing'],
  awaiting_review: ['waits', 'Awaits review'],
  completed: ['quiet', 'Completed'],
  failed: ['alarm', 'Failed'],
  rejected: ['alarm', 'Rejected'],
  requires_action: ['waits', 'Requires action'],
  scheduled: ['waits', 'Scheduled'],
  succeeded: ['quiet', 'Succeeded'],
  canceled: ['quiet', 'Canceled'],
  reversed: ['quiet', 'Reversed'],
}

/** The state of an incident, a delivery, an operation or an action. */
export function StateBadge({ state }: { state: State }) {
  const [tone, word] = STATES[state]
  return <Badge tone={tone}>{word}</Badge>
}
