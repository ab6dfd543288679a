import { useQuery } from '@tanstack/react-query'
import { connectionQuery, connectionsQuery } from '../../api/connections.ts'
import { connectionOptions } from './connection-options.ts'

/**
 * The connections of a project to choose from, for a page about one of them or all.
 * @param id the chosen one; undefined for all
 */
export function useConnectionChoice(projectId: string, id: string | undefined) {
  const { data: connections } = useQuery(connectionsQuery(projectId))
  const { data: chosen } = useQuery({ ...connectionQuery(projectId, id ?? ''), enabled: id !== undefined })
  const name = chosen?.name ?? id
  return { name, options: connectionOptions(connections ?? [], { id, name }), hasNone: connections?.length === 0 }
}
