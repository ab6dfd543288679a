import type { Project } from '@backstop/client'
import { Button } from '@mantine/core'
import { isLostRace } from '../../parts/is-lost-race.ts'
import { LostRace } from '../../parts/lost-race.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Time } from '../../parts/time.tsx'
import classes from './settings.module.css'

interface Props {
  /** As it is stored now. */
  project: Project
  hasChanges: boolean
  isValid?: boolean
  isPending: boolean
  error: Error | null
  /** What was to be saved, after a lost race. */
  yours: string
  onSave: () => void
  onDiscard: () => void
}

/** The buttons below a form of the settings, its error, and the choice after a lost race. */
export function Saving({ project, hasChanges, isValid = true, isPending, error, yours, onSave, onDiscard }: Props) {
  if (isLostRace(error))
    return (
      <LostRace
        theirs={
          <>
            “{project.name}”, changed <Time at={project.updated_at} />
          </>
        }
        yours={yours}
        onKeepTheirs={onDiscard}
        onApplyYours={onSave}
      />
    )
  return (
    <>
      {error !== null && <Problem error={error} what="Nothing was changed" />}
      <div className={classes.buttons}>
        <Button variant="default" disabled={!hasChanges || !isValid} loading={isPending} onClick={onSave}>
          Save
        </Button>
        {hasChanges && (
          <Button variant="subtle" onClick={onDiscard}>
            Discard
          </Button>
        )}
      </div>
    </>
  )
}
