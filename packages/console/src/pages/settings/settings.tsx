import type { Project } from '@backstop/client'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { projectQuery } from '../../api/projects.ts'
import { CopyId } from '../../parts/copy-id.tsx'
import { Facts } from '../../parts/facts.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Time } from '../../parts/time.tsx'
import { useProjectId } from '../../parts/use-route.ts'
import { useSession } from '../../session/session.ts'
import { Approval } from './approval.tsx'
import { ArchiveProject } from './archive-project.tsx'
import { MailLook } from './mail-look.tsx'
import { ProjectName } from './project-name.tsx'
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
  const params = { project: project.project_id }
  return (
    <div className={classes.sections}>
      <section className={classes.section} aria-label="Project">
        <h2>Project</h2>
        {mayChange && <ProjectName project={project} />}
        <Facts
          facts={[
            ['Name', mayChange ? undefined : project.name],
            ['Id', <CopyId key="id" id={project.project_id} length={32} />],
            ['Created', <Time key="created" at={project.created_at} />],
          ]}
        />
      </section>
      <MailLook project={project} mayChange={mayChange} />
      <Approval project={project} mayChange={mayChange} />
      <section className={classes.section} aria-label="Expected changes">
        <h2>Expected changes</h2>
        <p className="dim">
          Say in advance which refunds and cancellations your team makes by hand, so that they do not alert.{' '}
          <Link className="link" to="/p/$project/expected-changes" params={params}>
            Open the expected changes
          </Link>
        </p>
      </section>
      <Suppressions projectId={project.project_id} />
      {mayChange && <ArchiveProject project={project} />}
    </div>
  )
}
