import {
  type ActionDocument,
  type ArchivedActionDocument,
  type ArchivedVersion,
  MIN_ARCHIVE_DAYS,
} from '@backstop/contracts'
import { asUnavailable, type Mongo } from '@backstop/kit/mongo'
import { type CountedDay, countedDayId, dayOf } from '@backstop/verdict'
import type { ClientSession } from 'mongodb'
import { countedPartOf, isArchivable } from './rules/counted-part.ts'

export interface ArchivedActionStore {
  /**
   * Removes these actions from lists, and keeps what is counted of them. An action that has another version, or may not be archived, stays
   * listed. A repeat changes nothing.
   * @param now milliseconds since the epoch
   * @returns how many actions this call has moved, and the days of all of these actions that are archived by now. Mark them, because a count at
   * this moment may count an action twice
   */
  archive(
    projectId: string,
    actions: readonly ArchivedVersion[],
    now: number,
  ): Promise<{ readonly moved: number; readonly days: CountedDay[] }>
}

const DAY_MS = 86_400_000

/** Actions that were first recorded before this time may be archived, in milliseconds since the epoch. */
export function archivableBefore(now: number): number {
  return now - MIN_ARCHIVE_DAYS * DAY_MS
}

/** Archived actions in MongoDB: `archived_actions` in place of `actions`. */
export function createMongoArchivedActions({ client, db }: Pick<Mongo, 'client' | 'db'>): ArchivedActionStore {
  const listed = db.collection<ActionDocument>('actions')
  const archived = db.collection<ArchivedActionDocument>('archived_actions')
  return {
    archive: (projectId, actions, now) =>
      asUnavailable(async () => {
        const versions = new Map(actions.map(({ action_id, version }) => [action_id, version]))
        const named = { _id: { $in: [...versions.keys()] }, project_id: projectId }
        const move = async (session: ClientSession) => {
          const found = await listed.find(named, { session }).toArray()
          const moved = found.filter(
            action => versions.get(action._id) === action.version && isArchivable(action, archivableBefore(now)),
          )
          if (moved.length === 0) return 0
          const counted = moved.map(action => countedPartOf(action, new Date(now)))
          const writes = counted.map(replacement => ({
            replaceOne: { filter: { _id: replacement._id }, replacement, upsert: true },
          }))
          await archived.bulkWrite(writes, { session })
          await listed.deleteMany({ _id: { $in: moved.map(({ _id }) => _id) } }, { session })
          return moved.length
        }
        const moved = await client.withSession(session => session.withTransaction(() => move(session)))
        return { moved, days: daysOf(await archived.find(named).toArray()) }
      }),
  }
}

/** The days on which these actions are counted, each once. */
function daysOf(
  actions: readonly Pick<ArchivedActionDocument, 'connection_id' | 'provider_created_at'>[],
): CountedDay[] {
  const days = actions.map(({ connection_id, provider_created_at }) => ({
    connectionId: connection_id,
    day: dayOf(Date.parse(provider_created_at)),
  }))
  return [...new Map(days.map(day => [countedDayId(day), day])).values()]
}
