import type { Project } from '@backstop/client'
import { Button } from '@mantine/core'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Time } from '../../parts/time.tsx'
import classes from './settings.module.css'
import { useProjectChange } from './use-project-change.ts'

/** Archives a project, or restores an archived one. */
export function ArchiveProject({ project }: { project: Project }) {
  const change = useProjectChange(project)
  if (project.archived_at === null)
    return (
      <section className={classes.section} aria-label="Archive">
        <h2>Archive</h2>
        <p className="dim">
          An archived project gets nothing new. Its history can still be read, and it can be restored. Delete its
          connections first.
        </p>
        <div>
          <ConfirmButton
            question={`Archive “${project.name}”?`}
            consequence="It gets no events and sends no alerts. You can restore it later."
            onConfirm={() => change.mutateAsync({ patch: { archived: true } })}
          >
            Archive the project
          </ConfirmButton>
        </div>
      </section>
    )
  return (
    <section className={classes.section} aria-label="Archive">
      <h2>Archive</h2>
      <p>
        Archived <Time at={project.archived_at} />.
      </p>
      {change.error !== null && <Problem error={change.error} what="The project was not restored" />}
      <div>
        <Button
          variant="default"
          loading={change.isPending}
          onClick={() => change.mutate({ patch: { archived: false } })}
        >
          Restore the project
        </Button>
      </div>
    </section>
  )
}
