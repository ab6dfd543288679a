import { type ActionDocument, type BurstDocument, isoTime } from '@backstop/contracts'
import { asUnavailable, type Mongo, writeIgnoringDuplicates } from '@backstop/kit/mongo'
import type { BurstAction } from '@backstop/verdict'

/** An action that waits for its second look. */
export interface PendingAction {
  readonly connectionId: string
  readonly firstSeenAt: number
}

/** An action of the last minute. */
export interface SeenAction extends BurstAction {
  readonly verdict: ActionDocument['verdict']
  /** When its second look found no explanation; absent if it has not. */
  readonly look_done?: Date
}

/** What a process learned about a connection on one day: maxima and sums by field and key. */
export interface Learned {
  readonly connectionId: string
  readonly projectId: string
  readonly day: number
  readonly late: Readonly<Record<string, number>>
  readonly busiest: Readonly<Record<string, number>>
  readonly waits: Readonly<Record<string, number>>
}

/** The bursts, the history of what is usual, and the listed actions that both are counted from. */
export interface BurstStore {
  /** The listed actions whose second look is not due yet, of all connections. */
  pending(now: number, limit: number): Promise<PendingAction[]>
  /** The actions of a connection that were first seen from `from` to `to`, both included, in milliseconds since the epoch. */
  seen(connectionId: string, from: number, to: number, limit: number): Promise<SeenAction[]>
  /** How many actions of a part of time operations explained. */
  countExplained(connectionId: string, from: number, before: number): Promise<number>
  byIds(connectionIds: readonly string[]): Promise<ReadonlyMap<string, BurstDocument>>
  /**
   * Raises the maxima and adds the sums of a day, unless a burst is open or was confirmed since.
   * @param since when the process began to learn them
   * @param expired the days to remove
   * @returns false if they were not stored
   */
  learn(learned: Learned, since: number, expired: readonly string[]): Promise<boolean>
  /** Creates the document of a connection. An existing document is kept. */
  ensure(connectionId: string, projectId: string): Promise<void>
  /** Reports a burst, unless another process has changed the document. */
  open(known: BurstDocument, burst: NonNullable<BurstDocument['open']>, checkAt: number): Promise<boolean>
  /** The bursts to look at now, earliest first. */
  due(now: number, limit: number): Promise<BurstDocument[]>
  /** Moves the time of the next look. @returns false if another process has changed the document */
  postpone(known: BurstDocument, checkAt: number): Promise<boolean>
  /** Ends a burst. @param attack a confirmed one: until when no other burst is reported, and the day of which nothing is learned */
  end(known: BurstDocument, attack: { readonly quietUntil: number; readonly day: number } | null): Promise<void>
  /** While the actions of a confirmed burst continue, no other burst is reported. */
  extendQuiet(connectionId: string, quietUntil: number): Promise<void>
}

export function createMongoBursts({ db }: Mongo): BurstStore {
  const actions = db.collection<ActionDocument>('actions')
  const bursts = db.collection<BurstDocument>('bursts')
  const seenBetween = (connectionId: string, from: number, to: number) => ({
    connection_ids: connectionId,
    first_seen: { $gte: new Date(from), $lte: new Date(to) },
  })
  return {
    pending: (now, limit) =>
      asUnavailable(async () => {
        const found = await actions
          .find({ verdict: 'pending', second_look_at: { $gt: isoTime(now) } })
          .project<Pick<ActionDocument, 'connection_id' | 'first_seen' | 'merged_into'>>({
            _id: 0,
            connection_id: 1,
            first_seen: 1,
            merged_into: 1,
          })
          .limit(limit)
          .toArray()
        return found
          .filter(({ merged_into }) => merged_into == null)
          .map(({ connection_id, first_seen }) => ({ connectionId: connection_id, firstSeenAt: first_seen.getTime() }))
      }),
    seen: (connectionId, from, to, limit) =>
      asUnavailable(async () => {
        const fields = {
          ...{
            provider: 1,
            kind: 1,
            amount: 1,
            currency: 1,
            state: 1,
            mode: 1,
            origin: 1,
            actor_id: 1,
            account: 1,
            subject: 1,
            payment: 1,
            verdict: 1,
          },
          ...{ first_seen_at: 1, second_look_at: 1, look_done: 1, connection_id: 1, merged_into: 1 },
        }
        const found = await actions
          .find(seenBetween(connectionId, from, to))
          .project<SeenAction & Pick<ActionDocument, 'merged_into' | 'connection_id'>>({ _id: 0, ...fields })
          .limit(limit)
          .toArray()
        // An action that several connections show counts for the first.
        return found.filter(({ merged_into, connection_id }) => merged_into == null && connection_id === connectionId)
      }),
    countExplained: (connectionId, from, before) =>
      asUnavailable(() =>
        actions.countDocuments({ ...seenBetween(connectionId, from, before - 1), verdict: 'explained' }),
      ),
    byIds: ids =>
      asUnavailable(async () => {
        if (ids.length === 0) return new Map()
        const found = await bursts.find({ _id: { $in: [...ids] } }).toArray()
        return new Map(found.map(document => [document._id, document]))
      }),
    ensure: (connectionId, projectId) =>
      asUnavailable(async () => {
        const document = newBurstDocument(connectionId, projectId)
        await writeIgnoringDuplicates(() => bursts.insertMany([document], { ordered: false }), 1)
      }),
    learn: (learned, since, expired) =>
      asUnavailable(async () => {
        const known = { _id: learned.connectionId, open: null, quiet_until: { $lt: new Date(since) } }
        return (await bursts.updateOne(known, updateOf(learned, expired))).matchedCount === 1
      }),
    open: ({ _id, version }, open, checkAt) =>
      asUnavailable(async () => {
        const changes = { open, check_at: new Date(checkAt), version: version + 1 }
        return (await bursts.updateOne({ _id, version, open: null }, { $set: changes })).matchedCount === 1
      }),
    due: (now, limit) =>
      asUnavailable(() =>
        bursts
          .find({ check_at: { $lte: new Date(now) } })
          .sort({ check_at: 1 })
          .limit(limit)
          .toArray(),
      ),
    postpone: ({ _id, version }, checkAt) =>
      asUnavailable(async () => {
        const changes = { check_at: new Date(checkAt), version: version + 1 }
        return (await bursts.updateOne({ _id, version }, { $set: changes })).matchedCount === 1
      }),
    end: ({ _id, version }, attack) =>
      asUnavailable(async () => {
        const quiet = attack === null ? {} : { quiet_until: new Date(attack.quietUntil) }
        const learned = attack === null ? {} : { [`days.${attack.day}.late`]: '' }
        await bursts.updateOne({ _id, version }, {
          $set: { open: null, version: version + 1, ...quiet },
          $unset: { check_at: '', ...learned },
        } as object)
      }),
    extendQuiet: (_id, quietUntil) =>
      asUnavailable(async () => {
        await bursts.updateOne({ _id, open: null }, { $max: { quiet_until: new Date(quietUntil) } })
      }),
  }
}

function updateOf({ day, late, busiest, waits }: Learned, expired: readonly string[]): object {
  const paths = (name: string, values: Readonly<Record<string, number>>) =>
    Object.entries(values).map(([key, value]) => [`days.${day}.${name}.${key}`, value] as const)
  const operators = {
    $max: [...paths('late', late), ...paths('busiest', busiest)],
    $inc: paths('waits', waits),
    $unset: expired.map(old => [`days.${old}`, ''] as const),
  }
  return Object.fromEntries(
    Object.entries(operators).flatMap(([operator, fields]) =>
      fields.length === 0 ? [] : [[operator, Object.fromEntries(fields)]],
    ),
  )
}

/** The document of a connection about which nothing is known. */
export function newBurstDocument(connectionId: string, projectId: string): BurstDocument {
  return { _id: connectionId, project_id: projectId, version: 0, days: {}, open: null, quiet_until: new Date(0) }
}
