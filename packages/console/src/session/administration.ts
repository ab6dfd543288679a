import type { Project } from '@backstop/client'
import { useQuery } from '@tanstack/react-query'
import { projectsQuery } from '../api/system.ts'
import { isAdminAnywhere, useSession } from './session.ts'

interface Administration {
  /** Undefined while it is not known yet. */
  readonly isAdmin: boolean | undefined
  readonly isAdminOfAll: boolean
  /** The projects whose keys, people and audit the reader may see. */
  readonly projects: readonly Project[]
  /** All projects that the reader may see. */
  readonly readable: readonly Project[]
  /** The name of a project, or its id if the reader does not see the project. Null is all projects. */
  nameProject(id: string | null): string
}

/** What the signed-in key or person administers. */
export function useAdministration(): Administration {
  const { me, may } = useSession()
  const { data: projects = [] } = useQuery(projectsQuery)
  const names = new Map(projects.map(({ project_id, name }) => [project_id, name]))
  return {
    isAdmin: me === undefined ? undefined : isAdminAnywhere(me),
    isAdminOfAll: may('admin'),
    projects: projects.filter(({ project_id }) => may('admin', project_id)),
    readable: projects,
    nameProject: id => (id === null ? 'All projects' : (names.get(id) ?? id)),
  }
}

/** Projects as the options of a choice. */
export function projectOptions(projects: readonly Project[]) {
  return projects.map(({ project_id, name }) => ({ value: project_id, label: name }))
}

/** The choice of a project that stands for all of them. */
export const ALL_PROJECTS = 'all'

/** Where the reader may give access: the projects that the reader administers, and for an admin of all of them also all. */
export function useGrantableProjects() {
  const { isAdminOfAll, projects } = useAdministration()
  const all = isAdminOfAll ? [{ value: ALL_PROJECTS, label: 'All projects, also future ones' }] : []
  return [...all, ...projectOptions(projects)]
}
