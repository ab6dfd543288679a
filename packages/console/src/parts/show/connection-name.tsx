import { useQuery } from '@tanstack/react-query'
import { connectionQuery } from '../../api/connections.ts'
import { ProjectLink } from '../page/project-link.tsx'
import { useProjectId } from '../page/use-route.ts'

/** A link to a connection of the open project, by its name. */
export function ConnectionName({ id }: { id: string }) {
  const { data } = useQuery(connectionQuery(useProjectId(), id))
  return (
    <ProjectLink page="connections" id={id}>
      <bdi>{data?.name ?? id}</bdi>
    </ProjectLink>
  )
}
