import type { ConnectionDocument, ErasureDocument } from '@backstop/contracts'
import { asUnavailable, type Mongo } from '@backstop/kit/mongo'

/** The erasure of the personal data that a deleted connection showed, and its progress. */
export interface ConnectionErasure {
  readonly connectionId: string
  readonly projectId: string
  /** The last case that was checked; '' at the beginning. */
  readonly cursor: string
  /** Set if a case failed: the last case that was checked before its page. The next pass begins there. */
  readonly retryFrom: string | null
  /** Numbers of erased cases and bodies. A page that was repeated after a crash counts twice. */
  readonly cases: number
  readonly bodies: number
  /** Milliseconds since the epoch; null until everything is erased. */
  readonly finishedAt: number | null
}

export interface ErasureStore {
  /**
   * A connection that was deleted at this time or earlier, and whose data is not erased yet; undefined if there is none.
   * @param except ids of connections to leave out
   */
  next(deletedBefore: number, except?: ReadonlySet<string>): Promise<ConnectionErasure | undefined>
  save(erasure: ConnectionErasure): Promise<void>
}

/** Erasures in MongoDB, collection `erasures`. */
export function createMongoErasures(mongo: Mongo): ErasureStore {
  const connections = mongo.db.collection<ConnectionDocument>('connections')
  const erasures = mongo.db.collection<ErasureDocument>('erasures')
  return {
    next: (deletedBefore, except) =>
      asUnavailable(async () => {
        const query = { status: 'deleted' as const, deleted_at: { $lte: new Date(deletedBefore) } }
        const deleted = await connections.find(query, { projection: { project_id: 1 } }).toArray()
        const found = await erasures.find({ _id: { $in: deleted.map(({ _id }) => _id) } }).toArray()
        const known = new Map(found.map(document => [document._id, document]))
        const connection = deleted.find(
          ({ _id }) => except?.has(_id) !== true && (known.get(_id)?.finished_at ?? null) === null,
        )
        if (connection === undefined) return undefined
        return toErasure(connection, known.get(connection._id))
      }),
    save: ({ connectionId, projectId, finishedAt, cursor, retryFrom, cases, bodies }) =>
      asUnavailable(async () => {
        const finished_at = finishedAt === null ? null : new Date(finishedAt)
        const fields = { project_id: projectId, cursor, retry_from: retryFrom, cases, bodies, finished_at }
        await erasures.updateOne({ _id: connectionId }, { $set: fields }, { upsert: true })
      }),
  }
}

export function toErasure(
  { _id: connectionId, project_id: projectId }: Pick<ConnectionDocument, '_id' | 'project_id'>,
  known: ErasureDocument | undefined,
): ConnectionErasure {
  const { cursor = '', retry_from: retryFrom = null, cases = 0, bodies = 0 } = known ?? {}
  return { connectionId, projectId, cursor, retryFrom, cases, bodies, finishedAt: null }
}
