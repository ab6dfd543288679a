import type { ConnectionDocument, Names, ProjectDocument } from '@backstop/contracts'
import { asUnavailable, type Mongo } from '@backstop/kit/mongo'
import type { Filter, FindOptions } from 'mongodb'

const WITHOUT_ACCOUNTS: FindOptions = { projection: { accounts: 0 } }

/**
 * A connection with the name of its project; null if the project is not stored. Without the settings of its connected accounts: a platform
 * has up to 1,000, and every batch of its events reads the connection.
 */
export interface NamedConnection extends Omit<ConnectionDocument, 'accounts'> {
  readonly project_name?: string | null
}

/** A connection with the settings of its connected accounts. */
export type ConnectionWithAccounts = NamedConnection & Required<Pick<ConnectionDocument, 'accounts'>>

/** The names that alerts about a connection show. */
export function namesOf({ name, project_name = null }: NamedConnection): Names {
  return { project: project_name, connection: name }
}

export interface ConnectionReader {
  /** Includes deleted connections. */
  byIds(ids: readonly string[]): Promise<ReadonlyMap<string, NamedConnection>>
  /** The same connections, each with the settings of its connected accounts. */
  withAccounts(ids: readonly string[]): Promise<ReadonlyMap<string, ConnectionWithAccounts>>
  /** All active connections whose provider can be read. */
  readable(): Promise<NamedConnection[]>
  /** @returns null if the project is not stored */
  projectName(projectId: string): Promise<string | null>
}

/** Reads the connections that admin-api stores. */
export function createMongoConnections(mongo: Mongo): ConnectionReader {
  const connections = mongo.db.collection<ConnectionDocument>('connections')
  const projects = mongo.db.collection<ProjectDocument>('projects')
  /** Two queries, because a $lookup would query the project once for each connection. */
  const find = (filter: Filter<ConnectionDocument>, options?: FindOptions) =>
    asUnavailable(async () => {
      const found = await connections.find(filter, options).toArray()
      const ids = [...new Set(found.map(({ project_id }) => project_id))]
      const named = await projects.find({ _id: { $in: ids } }, { projection: { name: 1 } }).toArray()
      const names = new Map(named.map(({ _id, name }) => [_id, name]))
      return found.map(connection => ({ ...connection, project_name: names.get(connection.project_id) ?? null }))
    })
  async function findByIds(ids: readonly string[], options?: FindOptions) {
    const found = ids.length === 0 ? [] : await find({ _id: { $in: [...ids] } }, options)
    return new Map(found.map(document => [document._id, document]))
  }
  return {
    byIds: ids => findByIds(ids, WITHOUT_ACCOUNTS),
    async withAccounts(ids) {
      const found = await findByIds(ids)
      return new Map([...found].map(([id, connection]) => [id, { ...connection, accounts: connection.accounts ?? [] }]))
    },
    readable: () => find({ status: 'active', read_key: { $ne: null } }, WITHOUT_ACCOUNTS),
    projectName: id => asUnavailable(async () => (await projects.findOne({ _id: id }))?.name ?? null),
  }
}
