import type { ConnectionDocument, Names, ProjectDocument } from '@backstop/contracts'
import { asUnavailable, type Mongo } from '@backstop/kit/mongo'
import type { Filter } from 'mongodb'

/** A connection with the name of its project; null if the project is not stored. */
export interface NamedConnection extends ConnectionDocument {
  readonly project_name?: string | null
}

/** The names that alerts about a connection show. */
export function namesOf({ name, project_name = null }: NamedConnection): Names {
  return { project: project_name, connection: name }
}

export interface ConnectionReader {
  /** Includes deleted connections. */
  byIds(ids: readonly string[]): Promise<ReadonlyMap<string, NamedConnection>>
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
  const find = (filter: Filter<ConnectionDocument>) =>
    asUnavailable(async () => {
      const found = await connections.find(filter).toArray()
      const ids = [...new Set(found.map(({ project_id }) => project_id))]
      const named = await projects.find({ _id: { $in: ids } }, { projection: { name: 1 } }).toArray()
      const names = new Map(named.map(({ _id, name }) => [_id, name]))
      return found.map(
        (connection): NamedConnection => ({ ...connection, project_name: names.get(connection.project_id) ?? null }),
      )
    })
  return {
    async byIds(ids) {
      if (ids.length === 0) return new Map()
      const found = await find({ _id: { $in: [...ids] } })
      return new Map(found.map(document => [document._id, document]))
    },
    readable: () => find({ status: 'active', read_key: { $ne: null } }),
    projectName: id => asUnavailable(async () => (await projects.findOne({ _id: id }))?.name ?? null),
  }
}
