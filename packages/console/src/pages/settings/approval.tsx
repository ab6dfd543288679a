import type { Project } from '@backstop/client'
import { NumberInput, Switch } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { formatDuration } from '../../format/times.ts'
import { Saving } from './saving.tsx'
import classes from './settings.module.css'
import { useProjectChange } from './use-project-change.ts'
import { versionToSave } from './version-to-save.ts'

const HOUR_S = 3_600

/** Whether requested operations wait for approval, and for how long. */
export function Approval({ project, mayChange }: { project: Project; mayChange: boolean }) {
  const [base, setBase] = useState(project)
  const [isRequired, setIsRequired] = useState(project.requires_approval)
  const [hours, setHours] = useState(project.approval_deadline_seconds / HOUR_S)
  const begin = (from: Project) => {
    setBase(from)
    setIsRequired(from.requires_approval)
    setHours(from.approval_deadline_seconds / HOUR_S)
  }
  const change = useProjectChange(project, begin)
  const seconds = Math.round(hours * HOUR_S)
  const patch = {
    ...(isRequired === base.requires_approval ? {} : { requires_approval: isRequired }),
    ...(seconds === base.approval_deadline_seconds ? {} : { approval_deadline_seconds: seconds }),
  }
  const version = versionToSave(base, project, change.error)
  const params = { project: project.project_id }
  return (
    <section className={classes.section} aria-label="Approval">
      <h2>Approval</h2>
      {mayChange ? (
        <div className={classes.form}>
          <Switch
            size="sm"
            label="Requested operations wait for approval"
            description="An operation that executes without approval then explains nothing"
            checked={isRequired}
            onChange={event => setIsRequired(event.currentTarget.checked)}
          />
          <NumberInput
            label="Hours to decide"
            description="A reminder is sent after half of the time"
            min={0.01}
            max={720}
            decimalScale={2}
            value={hours}
            onChange={value => setHours(Number(value))}
          />
          <Saving
            project={project}
            hasChanges={Object.keys(patch).length > 0}
            isValid={seconds >= 10}
            isPending={change.isPending}
            error={change.error}
            yours={isRequired ? `Approval within ${formatDuration(seconds * 1000)}` : 'No approval'}
            onSave={() => change.mutate({ patch, version })}
            onDiscard={() => {
              begin(project)
              change.reset()
            }}
          />
        </div>
      ) : (
        <p>
          {project.requires_approval
            ? `Requested operations wait for approval, at most ${formatDuration(project.approval_deadline_seconds * 1000)}.`
            : 'Requested operations need no approval.'}
        </p>
      )}
      <p className="dim">
        <Link className="link" to="/p/$project/approvals" params={params}>
          What waits for approval
        </Link>
        {' · '}
        <Link className="link" to="/p/$project/budgets" params={params}>
          Budgets
        </Link>
      </p>
    </section>
  )
}
