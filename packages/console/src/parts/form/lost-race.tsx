import { ApiProblem } from '@backstop/client'
import { Button, Group } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './lost-race.module.css'

const LOST: readonly unknown[] = ['precondition_failed', 'incident_state', 'illegal_transition']

/** True if somebody else changed the resource first, so that the write was refused. */
export function isLostRace(error: unknown): boolean {
  return error instanceof ApiProblem && LOST.includes(error.code)
}

interface Versioned {
  readonly version: number
}

/**
 * The version that a form changes: the one that it began with, and after a lost race the one that was shown beside it.
 * @param error that of the last attempt to save
 */
export function versionToSave(base: Versioned, stored: Versioned, error: Error | null): number {
  return isLostRace(error) ? stored.version : base.version
}

interface Props {
  /** What somebody else made of it, for example `Acknowledged by Ada, 2 min ago`. */
  theirs: ReactNode
  /** What was refused, for example `Resolve as “this was us”`. */
  yours: ReactNode
  onKeepTheirs: () => void
  /** Without it, your change is not possible any more. */
  onApplyYours?: () => void
}

/** Shows both versions after a lost race, and asks. */
export function LostRace({ theirs, yours, onKeepTheirs, onApplyYours }: Props) {
  return (
    <div className={classes.race} role="alert">
      <p>Somebody changed this while it was open, so your change was not saved.</p>
      <dl>
        <dt>Now</dt>
        <dd>{theirs}</dd>
        <dt>Yours</dt>
        <dd>{yours}</dd>
      </dl>
      <Group gap="sm">
        <Button variant="default" onClick={onKeepTheirs}>
          Keep what is there now
        </Button>
        {onApplyYours !== undefined && <Button onClick={onApplyYours}>Apply mine to it</Button>}
      </Group>
    </div>
  )
}
