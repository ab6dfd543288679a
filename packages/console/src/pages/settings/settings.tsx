import type { Project } from '@backstop/client'
import { Button, Group, Stack, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { projectQuery } from '../../api/system.ts'
import { ConfirmButton, TimeZoneSelect } from '../../parts/form/index.ts'
import { PageHead, Problem, ProjectLink, useProjectId } from '../../parts/page/index.ts'
import { Facts, idFact, Time, timeFact } from '../../parts/show/index.ts'
import { useSession } from '../../session/session.ts'
import { Approval } from './approval.tsx'
import { MailLook } from './mail-look.tsx'
import { Saving, useProjectChange, useProjectForm } from './saving.tsx'
import classes from './settings.module.css'
import { Suppressions } from './suppressions.tsx'

export function Page() {
  const projectId = useProjectId()
  const { data: project, error, refetch } = useQuery(projectQuery(projectId))
  if (error !== null && project === undefined)
    return <Problem error={error} retry={() => void refetch()} what="The settings could not be read" />
  return (
    <>
      <PageHead title="Settings" />
      {project !== undefined && <Sections key={projectId} project={project} />}
    </>
  )
}

function Sections({ project }: { project: Project }) {
  const mayChange = useSession().may('admin', project.project_id)
  return (
    <div className={classes.sections}>
      <section className={classes.section} aria-label="Project">
        <h2>Project</h2>
        {mayChange && <ProjectForm project={project} />}
        <Facts
          facts={[
            ['Name', mayChange ? undefined : project.name],
            ['Time zone of messages', mayChange ? undefined : project.time_zone],
            ['Id', idFact(project.project_id)],
            ['Created', timeFact(project.created_at)],
          ]}
        />
      </section>
      <MailLook project={project} mayChange={mayChange} />
      <Approval project={project} mayChange={mayChange} />
      <section className={classes.section} aria-label="Expected changes">
        <h2>Expected changes</h2>
        <p className="dim">
          Say in advance which refunds and cancellations your team makes by hand, so that they do not alert.{' '}
          <ProjectLink page="expected-changes">Open the expected changes</ProjectLink>
        </p>
      </section>
      <Suppressions projectId={project.project_id} />
      {mayChange && <ArchiveProject project={project} />}
    </div>
  )
}

function ProjectForm({ project }: { project: Project }) {
  const form = useProjectForm(project, ({ name, time_zone }) => ({ name, zone: time_zone }))
  const { base, fields } = form
  const [name, { zone }] = [fields.name.trim(), fields]
  const patch = { ...(name === base.name ? {} : { name }), ...(zone === base.time_zone ? {} : { time_zone: zone }) }
  return (
    <Stack gap={12} miw={0}>
      <TextInput label="Name" {...form.field('name')} />
      <TimeZoneSelect
        label="Time zone of messages"
        description="The times in alerts are those of this zone"
        value={zone}
        onChange={chosen => form.edit({ zone: chosen })}
      />
      <Saving
        form={form}
        hasChanges={Object.keys(patch).length > 0}
        isValid={name !== ''}
        yours={`Name “${name}”, time zone ${zone}`}
        patch={patch}
      />
    </Stack>
  )
}

/** Archives a project, or restores an archived one. */
function ArchiveProject({ project }: { project: Project }) {
  const change = useProjectChange(project)
  return (
    <section className={classes.section} aria-label="Archive">
      <h2>Archive</h2>
      {project.archived_at === null ? (
        <>
          <p className="dim">
            An archived project gets nothing new. Its history can still be read, and it can be restored. Delete its
            connections first.
          </p>
          <Group>
            <ConfirmButton
              question={`Archive “${project.name}”?`}
              consequence="It gets no events and sends no alerts. You can restore it later."
              onConfirm={() => change.mutateAsync({ patch: { archived: true } })}
            >
              Archive the project
            </ConfirmButton>
          </Group>
        </>
      ) : (
        <>
          <p>
            Archived <Time at={project.archived_at} />.
          </p>
          <Problem error={change.error} what="The project was not restored" />
          <Group>
            <Button
              variant="default"
              loading={change.isPending}
              onClick={() => change.mutate({ patch: { archived: false } })}
            >
              Restore the project
            </Button>
          </Group>
        </>
      )}
    </section>
  )
}
