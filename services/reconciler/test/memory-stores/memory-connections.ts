import type { ConnectionDocument } from '@backstop/contracts'
import type { ConnectionReader, NamedConnection } from '../../src/connections/connection-reader.ts'

/** Reads connections in memory, for simulations. */
export function createMemoryConnections(
  connections: ReadonlyMap<string, ConnectionDocument>,
  projectNames: ReadonlyMap<string, string>,
): ConnectionReader {
  const withProjectName = ({
    accounts,
    inbound_secrets,
    silence,
    ...connection
  }: ConnectionDocument): NamedConnection => ({
    ...connection,
    project_name: projectNames.get(connection.project_id) ?? null,
  })
  const found = (ids: readonly string[]) => ids.flatMap(id => connections.get(id) ?? [])
  return {
    byIds: async ids => new Map(found(ids).map(one => [one._id, withProjectName(one)])),
    withAccounts: async ids =>
      new Map(found(ids).map(one => [one._id, { ...withProjectName(one), accounts: one.accounts ?? [] }])),
    readable: async () =>
      [...connections.values()]
        .filter(({ status, read_key }) => status === 'active' && read_key !== null)
        .map(withProjectName),
    projectName: async id => projectNames.get(id) ?? null,
  }
}
