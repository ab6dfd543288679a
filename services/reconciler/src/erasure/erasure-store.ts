import type { ConnectionDocument, ErasedPerson, ErasureDocument, PersonErasureDocument } from '@backstop/contracts'
import { asUnavailable, isDuplicateKey, type Mongo } from '@backstop/kit/mongo'

/** An erasure of personal data: what a deleted connection showed, or the data of one customer. With its progress. */
export interface Erasure {
  /** The id of the connection, or of the request to erase the person. */
  readonly id: string
  readonly projectId: string
  /** How the customer is named; null for a deleted connection. */
  readonly person: ErasedPerson | null
  /** The last case that was checked; '' at the beginning. */
  readonly cursor: string
  /** Set if a case failed: the last case that was checked before its page. The next pass begins there. */
  readonly retryFrom: string | null
  /** Only of a person: the last body that was checked; '' at the beginning. */
  readonly bodyCursor: string
  /** Only of a person: when the second walk may begin, in milliseconds since the epoch; null during the first one. */
  readonly secondWalkAt: number | null
  /** Numbers of erased cases and bodies, and of the actions of a person. A page that was repeated after a crash counts twice. */
  readonly cases: number
  readonly actions: number
  readonly bodies: number
  /** Milliseconds since the epoch; null until everything is erased. */
  readonly finishedAt: number | null
}

/** Times in milliseconds since the epoch. */
export interface DueTimes {
  /** A connection must have been deleted at this time or earlier. */
  readonly deletedBefore: number
  readonly now: number
}

export interface ErasureStore {
  /**
   * An erasure that is due and not finished; undefined if there is none.
   * @param except ids of connections and requests to leave out
   */
  next(due: DueTimes, except?: ReadonlySet<string>): Promise<Erasure | undefined>
  /** Stores the progress. A finished erasure stays finished. */
  save(erasure: Erasure): Promise<void>
}

/** Erasures in MongoDB, collection `erasures`. */
export function createMongoErasures(mongo: Mongo): ErasureStore {
  const connections = mongo.db.collection<ConnectionDocument>('connections')
  const requests = mongo.db.collection<PersonErasureDocument>('person_erasures')
  const erasures = mongo.db.collection<ErasureDocument>('erasures')
  return {
    next: ({ deletedBefore, now }, except) =>
      asUnavailable(async () => {
        const query = { status: 'deleted' as const, deleted_at: { $lte: new Date(deletedBefore) } }
        const deleted = await connections.find(query, { projection: { project_id: 1 } }).toArray()
        const asked = await requests
          .find({ person: { $type: 'object' } })
          .sort({ requested_at: 1, _id: 1 })
          .toArray()
        // Connections first: they are few, and requests of people may come at any time.
        const wanted: ErasureRequest[] = [...deleted, ...asked]
        const found = await erasures.find({ _id: { $in: wanted.map(({ _id }) => _id) } }).toArray()
        const known = new Map(found.map(document => [document._id, document]))
        return wanted
          .map(request => toErasure(request, known.get(request._id)))
          .find(erasure => except?.has(erasure.id) !== true && isDue(erasure, now))
      }),
    save: erasure =>
      asUnavailable(async () => {
        const unfinished = { _id: erasure.id, finished_at: { $not: { $type: 'date' as const } } }
        try {
          await erasures.updateOne(unfinished, { $set: toFields(erasure) }, { upsert: true })
        } catch (error) {
          // Another process has finished it.
          if (!isDuplicateKey(error)) throw error
        }
      }),
  }
}

/** True if the erasure is not finished and its next walk may begin. */
export function isDue({ finishedAt, secondWalkAt }: Erasure, now: number): boolean {
  return finishedAt === null && (secondWalkAt === null || secondWalkAt <= now)
}

type ErasureRequest = Pick<ConnectionDocument, '_id' | 'project_id'> & Partial<Pick<PersonErasureDocument, 'person'>>

/** @param known the stored progress; undefined if the erasure has not begun */
export function toErasure(request: ErasureRequest, known: ErasureDocument | undefined): Erasure {
  const { _id: id, project_id: projectId, person = null } = request
  const { cursor = '', retry_from: retryFrom = null, body_cursor: bodyCursor = '' } = known ?? {}
  const { cases = 0, actions = 0, bodies = 0 } = known ?? {}
  const secondWalkAt = known?.second_walk_at?.getTime() ?? null
  const finishedAt = known?.finished_at?.getTime() ?? null
  return { id, projectId, person, cursor, retryFrom, bodyCursor, secondWalkAt, cases, actions, bodies, finishedAt }
}

function toFields({ projectId, person, cursor, retryFrom, cases, bodies, ...rest }: Erasure) {
  const dateOf = (time: number | null) => (time === null ? null : new Date(time))
  const fields = { project_id: projectId, cursor, retry_from: retryFrom, cases, bodies }
  const { bodyCursor: body_cursor, actions, secondWalkAt, finishedAt } = rest
  const ofPerson = person === null ? {} : { body_cursor, actions, second_walk_at: dateOf(secondWalkAt) }
  return { ...fields, ...ofPerson, finished_at: dateOf(finishedAt) }
}
