import type { Project } from '@backstop/client'
import { NumberInput, Stack, Switch } from '@mantine/core'
import { formatDuration } from '../../format/times.ts'
import { ProjectLink } from '../../parts/page/index.ts'
import { Saving, useProjectForm } from './saving.tsx'
import classes from './settings.module.css'

const HOUR_S = 3_600

/** Whether requested operations wait for approval, and for how long. */
export function Approval({ project, mayChange }: { project: Project; mayChange: boolean }) {
  const { requires_approval, approval_deadline_seconds } = project
  return (
    <section className={classes.section} aria-label="Approval">
      <h2>Approval</h2>
      {mayChange ? (
        <ApprovalForm project={project} />
      ) : (
        <p>
          {requires_approval
            ? `Requested operations wait for approval, at most ${formatDuration(approval_deadline_seconds * 1000)}.`
            : 'Requested operations need no approval.'}
        </p>
      )}
      <p className="dim">
        <ProjectLink page="approvals">What waits for approval</ProjectLink>
        {' · '}
        <ProjectLink page="budgets">Budgets</ProjectLink>
      </p>
    </section>
  )
}

function ApprovalForm({ project }: { project: Project }) {
  const form = useProjectForm(project, ({ requires_approval, approval_deadline_seconds }) => ({
    isRequired: requires_approval,
    hours: approval_deadline_seconds / HOUR_S,
  }))
  const { fields, field, edit, base } = form
  const seconds = Math.round(fields.hours * HOUR_S)
  const patch = {
    ...(fields.isRequired === base.requires_approval ? {} : { requires_approval: fields.isRequired }),
    ...(seconds === base.approval_deadline_seconds ? {} : { approval_deadline_seconds: seconds }),
  }
  return (
    <Stack gap={12} miw={0}>
      <Switch
        size="sm"
        label="Requested operations wait for approval"
        description="An operation that executes without approval then explains nothing"
        checked={fields.isRequired}
        onChange={event => edit({ isRequired: event.currentTarget.checked })}
      />
      <NumberInput
        label="Hours to decide"
        description="A reminder is sent after half of the time"
        min={0.01}
        max={720}
        decimalScale={2}
        {...field('hours')}
      />
      <Saving
        form={form}
        hasChanges={Object.keys(patch).length > 0}
        isValid={seconds >= 10}
        yours={fields.isRequired ? `Approval within ${formatDuration(seconds * 1000)}` : 'No approval'}
        patch={patch}
      />
    </Stack>
  )
}
