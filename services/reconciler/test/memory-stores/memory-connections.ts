import type { ConnectionDocument } from '@backstop/contracts'
import type { ConnectionReader, ConnectionWithAccounts } from '../../src/connections/connection-reader.ts'

/** Reads connections in memory, for simulations. */
export function createMemoryConnections(
  connections: ReadonlyMap<string, ConnectionDocument>,
  projectNames: ReadonlyMap<string, string>,
): ConnectionReader {
  const withProjectName = (connection: ConnectionDocument): ConnectionWithAccounts => ({
    ...connection,
    project_name: projectNames.get(connection.project_id) ?? null,
  })
  const withAccounts = async (ids: readonly string[]) =>
    new Map(ids.flatMap(id => connections.get(id) ?? []).map(found => [found._id, withProjectName(found)]))
  return {
    byIds: withAccounts,
    withAccounts,
    readable: async () =>
      [...connections.values()]
        .filter(({ status, read_key }) => status === 'active' && read_key !== null)
        .map(withProjectName),
    projectName: async id => projectNames.get(id) ?? null,
  }
}
