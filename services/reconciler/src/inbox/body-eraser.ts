import type { ConnectionDocument, InboxBodyDocument, ProviderKind } from '@backstop/contracts'
import { asUnavailable, type Mongo } from '@backstop/kit/mongo'

/** Erases raw bodies. Their entries in the inbox stay. */
export interface BodyEraser {
  /** Erases up to `limit` bodies of a connection. @returns their number */
  eraseBodies(connectionId: string, limit: number): Promise<number>
  /** Erases the bodies of these events. @returns their number */
  eraseBodiesOf(ids: readonly string[]): Promise<number>
  /**
   * Checks the next bodies of a project in the order of their ids, and erases those of a person.
   * @param after the last body that was checked before; '' for the first page
   * @returns the last checked body, undefined if none is left, and the number of erased ones
   */
  eraseBodiesOfPerson(
    projectId: string,
    isOfPerson: (body: string, provider: ProviderKind) => boolean,
    after: string,
    limit: number,
  ): Promise<{ readonly last: string | undefined; readonly erased: number }>
}

/** For the collection `inbox_bodies`. */
export function createBodyEraser(mongo: Mongo): BodyEraser {
  const bodies = mongo.db.collection<InboxBodyDocument>('inbox_bodies')
  const connections = mongo.db.collection<Pick<ConnectionDocument, '_id' | 'project_id' | 'kind'>>('connections')
  async function eraseAll(ids: readonly string[]): Promise<number> {
    return ids.length === 0 ? 0 : (await bodies.deleteMany({ _id: { $in: [...ids] } })).deletedCount
  }
  return {
    eraseBodies: (connectionId, limit) =>
      asUnavailable(async () => {
        const found = await bodies
          .find(bodiesOfConnection(connectionId), { projection: { _id: 1 } })
          .limit(limit)
          .toArray()
        return eraseAll(found.map(({ _id }) => _id))
      }),
    eraseBodiesOf: ids => asUnavailable(() => eraseAll(ids)),
    eraseBodiesOfPerson: (projectId, isOfPerson, after, limit) =>
      asUnavailable(async () => {
        const own = await connections.find({ project_id: projectId }, { projection: { kind: 1 } }).toArray()
        const providers = new Map(own.map(({ _id, kind }) => [_id, kind]))
        const ranges = own.filter(({ _id }) => after < `${_id}0`).map(({ _id }) => bodiesOfConnection(_id, after))
        if (ranges.length === 0) return { last: undefined, erased: 0 }
        const ofPerson: string[] = []
        let last: string | undefined
        for await (const { _id, body } of bodies.find({ $or: ranges }).sort({ _id: 1 }).limit(limit)) {
          const provider = providers.get(_id.slice(0, _id.indexOf('/')))
          if (provider !== undefined && isOfPerson(body, provider)) ofPerson.push(_id)
          last = _id
        }
        return { last, erased: await eraseAll(ofPerson) }
      }),
  }
}

/** The bodies of a connection after this id. An id begins with the connection, and "0" is the character after "/". */
function bodiesOfConnection(connectionId: string, after = '') {
  const first = `${connectionId}/`
  return { _id: { $gt: after > first ? after : first, $lt: `${connectionId}0` } }
}
