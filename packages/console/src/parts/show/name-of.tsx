import { useQuery } from '@tanstack/react-query'
import { nameQueries } from '../../api/names.ts'
import { projectsQuery } from '../../api/system.ts'
import { isAdminAnywhere, useSession } from '../../session/session.ts'
import { CopyId } from './copy-id.tsx'

/** The name of a key or person. Only admins may read names of others; undefined while or if the name is unknown. */
export function usePrincipalName(id: string | null): string | undefined {
  const { me } = useSession()
  const isOwn = id !== null && me?.id === id
  const isAsked = id !== null && !isOwn && isAdminAnywhere(me)
  const keys = useQuery({ ...nameQueries.key(), enabled: isAsked && id.startsWith('key_') })
  const people = useQuery({ ...nameQueries.person(), enabled: isAsked && id.startsWith('per_') })
  if (id === null) return undefined
  return isOwn ? me.name : (keys.data?.get(id) ?? people.data?.get(id))
}

/** The name of a key, person, connection, channel or project. Connections and channels are found with their project only. */
export function useResourceName(id: string, projectId: string | null): string | undefined {
  const isOfProject = projectId !== null
  const principal = usePrincipalName(id)
  const projects = useQuery({ ...projectsQuery, enabled: id.startsWith('prj_') })
  const connections = useQuery({
    ...nameQueries.connection(projectId ?? ''),
    enabled: isOfProject && id.startsWith('con_'),
  })
  const channels = useQuery({ ...nameQueries.channel(projectId ?? ''), enabled: isOfProject && id.startsWith('chn_') })
  const project = projects.data?.find(({ project_id }) => project_id === id)
  return principal ?? project?.name ?? connections.data?.get(id) ?? channels.data?.get(id)
}

interface NamedProps {
  id: string
  name: string | undefined
  /** True for a place with room: the id is a second line. Otherwise the name has it as its title. */
  hasRoom?: boolean
}

/** A name with its id. An id without a known name is shown alone. */
export function Named({ id, name, hasRoom = false }: NamedProps) {
  if (name === undefined) return <CopyId id={id} {...(hasRoom ? { length: 32 } : {})} />
  if (!hasRoom) return <bdi title={id}>{name}</bdi>
  return (
    <span style={{ display: 'grid', justifyItems: 'start' }}>
      <bdi>{name}</bdi>
      <CopyId id={id} length={32} />
    </span>
  )
}

/** The key or person with this id. */
export function Principal({ id, hasRoom = false }: { id: string; hasRoom?: boolean }) {
  return <Named id={id} name={usePrincipalName(id)} hasRoom={hasRoom} />
}
