import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useProjectId } from './use-route.ts'

/** The pages of a project that others link to, as they are named in its URLs. */
export type ProjectPage =
  | 'accounts'
  | 'actions'
  | 'actors'
  | 'approvals'
  | 'budgets'
  | 'channels'
  | 'channels/new'
  | 'completeness'
  | 'connections'
  | 'connections/new'
  | 'customers'
  | 'deliveries'
  | 'dry-run'
  | 'expected-changes'
  | 'incidents'
  | 'operations'
  | 'runs'
  | 'settings'
  | 'statements'
  | 'storms'

interface Props {
  page: ProjectPage
  /** The id of one thing of the page. */
  id?: string
  /** The filters or the tab of the page. */
  search?: Readonly<Record<string, string | undefined>>
  /** The open project by default. */
  project?: string
  className?: string | undefined
  style?: object
  title?: string | undefined
  'aria-label'?: string
  'data-verdict'?: string
  'aria-current'?: 'page' | undefined
  children: ReactNode
}

/** A link to a page of a project. */
export function ProjectLink({ page, id, search = {}, project, className = 'link', ...link }: Props) {
  const open = useProjectId()
  const params = { project: project ?? open, ...(id === undefined ? {} : { id }) }
  const to = `/p/$project/${page}${id === undefined ? '' : '/$id'}`
  return <Link to={to as '/'} params={params as never} search={search as never} className={className} {...link} />
}
