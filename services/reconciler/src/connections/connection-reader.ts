import type { ConnectionDocument, Names, ProjectDocument } from '@backstop/contracts'
import { asUnavailable, type Mongo, ONE_ANSWER } from '@backstop/kit/mongo'
import type { Filter, FindOptions } from 'mongodb'

/** The fields that a process does not keep. A write that changes another field also changes `version` or `updated_at`. */
export const NOT_KEPT = ['accounts', 'inbound_secrets', 'silence'] as const
const without = (fields: readonly string[]): FindOptions => ({
  projection: Object.fromEntries(fields.map(field => [field, 0])),
})

/** A connection as a process keeps it. Platforms have up to 1,000 connected accounts, so their settings are read when they are needed. */
export type KeptConnection = Omit<ConnectionDocument, (typeof NOT_KEPT)[number]>

/** A connection with the name of its project; null if the project is not stored. */
export interface NamedConnection extends KeptConnection {
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

/**
 * Reads the connections that admin-api stores. For a batch a process asks only for versions, which an index contains, and reads again what has
 * changed. It keeps every stored connection of which it had an event. Reading 500 connections for each batch took MongoDB a seventh of its time
 * after an outage.
 */
export function createMongoConnections(mongo: Mongo): ConnectionReader {
  const connections = mongo.db.collection<ConnectionDocument>('connections')
  const projects = mongo.db.collection<ProjectDocument>('projects')
  const kept = new Map<string, KeptConnection>()

  /** Reads by two queries, because a $lookup would query the project once for each connection. */
  async function withNames<C extends KeptConnection>(found: readonly C[]) {
    const ids = [...new Set(found.map(({ project_id }) => project_id))]
    const named = await projects.find({ _id: { $in: ids } }, { ...ONE_ANSWER, projection: { name: 1 } }).toArray()
    const names = new Map(named.map(({ _id, name }) => [_id, name]))
    return found.map(connection => ({ ...connection, project_name: names.get(connection.project_id) ?? null }))
  }

  async function readKept(ids: readonly string[]): Promise<KeptConnection[]> {
    if (ids.length === 0) return []
    const projection = { version: 1, updated_at: 1 }
    const current = await connections.find({ _id: { $in: [...ids] } }, { ...ONE_ANSWER, projection }).toArray()
    const changed = current.filter(one => !isSame(one, kept.get(one._id))).map(({ _id }) => _id)
    // Other batches of the process read at the same time, and a late answer may be an older one. So this batch uses its own answer.
    const read = new Map<string, KeptConnection>()
    if (changed.length > 0) {
      const found = connections.find({ _id: { $in: changed } }, { ...ONE_ANSWER, ...without(NOT_KEPT) })
      for await (const connection of found) read.set(connection._id, connection)
      for (const [id, connection] of read) kept.set(id, connection)
    }
    return current.flatMap(({ _id }) => read.get(_id) ?? kept.get(_id) ?? [])
  }

  return {
    byIds: ids => asUnavailable(async () => new Map((await withNames(await readKept(ids))).map(one => [one._id, one]))),
    withAccounts: ids =>
      asUnavailable(async () => {
        if (ids.length === 0) return new Map()
        const options = { ...ONE_ANSWER, ...without(['inbound_secrets', 'silence']) }
        const found = await connections.find({ _id: { $in: [...ids] } }, options).toArray()
        return new Map((await withNames(found)).map(one => [one._id, { ...one, accounts: one.accounts ?? [] }]))
      }),
    readable: () =>
      asUnavailable(async () => {
        const isReadable: Filter<ConnectionDocument> = { status: 'active', read_key: { $ne: null } }
        return withNames(await connections.find(isReadable, { ...ONE_ANSWER, ...without(NOT_KEPT) }).toArray())
      }),
    projectName: id => asUnavailable(async () => (await projects.findOne({ _id: id }))?.name ?? null),
  }
}

/** Whether the stored connection is the one that is kept. A request to create it that is repeated stores it anew, with the same version. */
function isSame(stored: Pick<ConnectionDocument, 'version' | 'updated_at'>, kept: KeptConnection | undefined): boolean {
  return (
    kept !== undefined && stored.version === kept.version && stored.updated_at.getTime() === kept.updated_at.getTime()
  )
}
