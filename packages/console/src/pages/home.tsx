import { useQuery } from '@tanstack/react-query'
import { Link, Navigate } from '@tanstack/react-router'
import { projectsQuery } from '../api/system.ts'
import { lastProject } from '../layout/last-project.ts'
import { PageHead, Problem } from '../parts/page/index.ts'

/** Opens the project that was open last, else the first one. */
export function Page() {
  const { data: projects, error, refetch } = useQuery(projectsQuery)
  if (error !== null)
    return <Problem error={error} retry={() => void refetch()} what="The projects could not be read" />
  if (projects === undefined) return null
  const active = projects.filter(({ archived_at }) => archived_at === null)
  const project = active.find(({ project_id }) => project_id === lastProject.read()) ?? active[0]
  if (project !== undefined) return <Navigate to="/p/$project" params={{ project: project.project_id }} replace />
  return (
    <PageHead title="There is no project yet">
      <Link className="link" to="/system/projects">
        Create the first project
      </Link>
    </PageHead>
  )
}
