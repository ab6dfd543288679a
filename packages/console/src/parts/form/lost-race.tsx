import { Button, Group } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './lost-race.module.css'

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
