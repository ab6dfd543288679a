import type {
  ActionDocument,
  ArchivedActionDocument,
  DailyTotalsDocument,
  IncidentDocument,
  ProjectTotalsDocument,
  TimeBucket,
} from '@backstop/contracts'
import { isoTime } from '@backstop/contracts'
import { asUnavailable, type Mongo, ONE_ANSWER } from '@backstop/kit/mongo'
import { type CountedDay, countedDayId, projectDayId } from '@backstop/verdict'
import type { Collection } from 'mongodb'
import {
  type CountedActions,
  countActors,
  countIncidentTimes,
  type DailyTotalKey,
  type DayCount,
  sumDays,
} from './rules/count-day.ts'
import { CLOCK_DIFFERENCE_MS, type ProjectDay, type TotalsStore } from './totals-store.ts'

const DAY_MS = 86_400_000
const COUNT_WITHIN_MS = 100_000

/** The daily totals of connections and of projects, collections `daily_totals` and `project_totals`. */
export function createMongoTotals(mongo: Mongo): TotalsStore {
  const days = mongo.db.collection<DailyTotalsDocument>('daily_totals')
  const projectDays = mongo.db.collection<ProjectTotalsDocument>('project_totals')
  const actions = mongo.db.collection<ActionDocument>('actions')
  const archived = mongo.db.collection<ArchivedActionDocument>('archived_actions')
  const incidents = mongo.db.collection<IncidentDocument>('incidents')

  return {
    mark: (touched, now) =>
      asUnavailable(async () => {
        const marked = await dueOf(days, touched, now)
        const updates = touched
          .filter(day => !marked.has(countedDayId(day)))
          .map(day => ({
            updateOne: { filter: { _id: countedDayId(day) }, update: markOf(day, now), upsert: true },
          }))
        if (updates.length > 0) await days.bulkWrite(updates, { ordered: false })
      }),

    claimNext: (now, leasedUntil) =>
      asUnavailable(async () => {
        const due = { count_at: { $lte: new Date(now) } }
        const lease = { $set: { count_at: new Date(leasedUntil) }, $inc: { marks: 1 } }
        const found = await days.findOneAndUpdate(due, lease, { sort: { count_at: 1 }, returnDocument: 'after' })
        if (found === null) return undefined
        const { project_id, connection_id, day, marks } = found
        return { projectId: project_id, connectionId: connection_id, day: day.getTime(), marks }
      }),

    count: day =>
      asUnavailable(async (): Promise<DayCount> => {
        const opened = { $gte: new Date(day.day), $lt: new Date(day.day + DAY_MS) }
        const about = { connection_id: day.connectionId, opened, action_id: { $ne: null } }
        const projection = { opened_at: 1, acknowledged_at: 1, resolved_at: 1 }
        const [{ times, ...counted }, ofDay] = await Promise.all([
          countActions(actions, archived, day),
          incidents.find(about, { projection, maxTimeMS: COUNT_WITHIN_MS }).toArray(),
        ])
        return { ...counted, times: { ...times, ...countIncidentTimes(ofDay) } }
      }),

    save: (day, { totals, times, actors, withoutNotification }) =>
      asUnavailable(async () => {
        const noLaterCount = { _id: countedDayId(day), counted: { $lte: day.marks } }
        const ofActors = { actors: [...actors], actor_count: actors.length }
        const counted = { totals: [...totals], times, ...ofActors, without_notification: withoutNotification }
        await days.updateOne(noLaterCount, { $set: { ...counted, counted: day.marks } })
      }),

    sumProject: day =>
      asUnavailable(async () => {
        // Each failed attempt means that another process stored a newer sum.
        while (!(await storeSum(days, projectDays, day)));
      }),

    finish: (day, nextAt) =>
      asUnavailable(async () => {
        // After a later count, the process that made it finishes the day.
        const own = { _id: countedDayId(day), counted: day.marks }
        const unchanged = { ...own, marks: day.marks, count_at: { $gt: new Date(nextAt + CLOCK_DIFFERENCE_MS) } }
        const { matchedCount } = await days.updateOne(unchanged, { $unset: { count_at: '' } })
        if (matchedCount === 0) await days.updateOne(own, { $set: { count_at: new Date(nextAt) } })
      }),
  }
}

/**
 * An archived action that a late change listed again, perhaps on another day, is counted as it is listed. The lookup has no pipeline: with one,
 * MongoDB takes ten times longer.
 */
const NOT_LISTED = [
  { $lookup: { from: 'actions', localField: '_id', foreignField: '_id', as: 'listed' } },
  { $match: { listed: { $size: 0 } } },
]

async function countActions(
  actions: Collection<ActionDocument>,
  archived: Collection<ArchivedActionDocument>,
  { connectionId, day }: CountedDay,
): Promise<DayCount> {
  const made = { $gte: isoTime(day), $lt: isoTime(day + DAY_MS) }
  const own = { connection_id: connectionId, provider_created_at: made, merged_into: null }
  const within = { maxTimeMS: COUNT_WITHIN_MS }
  const counts = await Promise.all([
    actions.aggregate<GroupOfActions>([{ $match: own }, { $group: TOTALS }], within).toArray(),
    archived.aggregate<GroupOfActions>([{ $match: own }, ...NOT_LISTED, { $group: TOTALS }], within).toArray(),
  ])
  const groups = counts.flat()
  const counted = groups.map(toCounted)
  return {
    ...sumDays(counted),
    actors: countActors(counted.flatMap(({ totals }) => totals)),
    withoutNotification: groups.reduce((sum, group) => sum + group.withoutNotification, 0),
  }
}

/**
 * The days that are already due. They are claimed after this read, so their count includes everything that is listed now, and
 * they need no further mark. With 1,000 connections, marking them anyway took a fifth of MongoDB's time for an event
 * (docs/performance.md).
 */
async function dueOf(
  days: Collection<DailyTotalsDocument>,
  touched: readonly CountedDay[],
  now: number,
): Promise<ReadonlySet<string>> {
  if (touched.length === 0) return new Set()
  const due = { _id: { $in: touched.map(countedDayId) }, count_at: { $lte: new Date(now) } }
  const found = await days.find(due, { ...ONE_ANSWER, projection: { _id: 1 }, hint: { _id: 1 } }).toArray()
  return new Set(found.map(({ _id }) => _id))
}

/**
 * The version is read before the counts: if two processes sum the same day, the one that stores later has also read later.
 * @returns false if another process stored a sum in the meantime
 */
async function storeSum(
  days: Collection<DailyTotalsDocument>,
  projectDays: Collection<ProjectTotalsDocument>,
  { projectId, day }: ProjectDay,
): Promise<boolean> {
  const _id = projectDayId({ projectId, day })
  const date = new Date(day)
  const version = (await projectDays.findOne({ _id }, { projection: { version: 1 } }))?.version
  const counts = await days
    .find({ project_id: projectId, day: date }, { projection: { totals: 1, times: 1 }, maxTimeMS: COUNT_WITHIN_MS })
    .toArray()
  const { totals, times } = sumDays(counts)
  const sum = { totals: [...totals], times }
  if (version === undefined) {
    const first = { _id, project_id: projectId, day: date, version: 1, ...sum }
    return (await projectDays.updateOne({ _id }, { $setOnInsert: first }, { upsert: true })).upsertedCount === 1
  }
  const { matchedCount } = await projectDays.updateOne({ _id, version }, { $set: { ...sum, version: version + 1 } })
  return matchedCount === 1
}

/** Actions of a day that have the same total, and the same bucket of the time to their verdict. */
interface GroupOfActions {
  readonly _id: DailyTotalKey & { readonly actor_id?: string | null; readonly bucket: number | null }
  /** A Long above 2^53. */
  readonly amount: unknown
  readonly count: number
  readonly first: string
  readonly last: string
  readonly withoutNotification: number
}

function toCounted({ _id: { bucket, actor_id = null, ...key }, count, amount, first, last }: GroupOfActions) {
  const sum = { count, amount: Number(amount), actor_id, first, last }
  const total: CountedActions = { ...key, currency: key.currency ?? null, mode: key.mode ?? null, ...sum }
  const verdict: TimeBucket[] = bucket == null ? [] : [[Number(bucket), count]]
  return { totals: [total], times: { verdict, acknowledgement: [], resolution: [] } }
}

/** The same as bucketOf(timeToVerdict()), for documents of versions that did not store it. */
const BUCKET_OF_TIMELINE = {
  $let: {
    vars: {
      entry: {
        $first: {
          $filter: {
            input: '$timeline',
            as: 'item',
            cond: { $in: ['$$item.what', ['explained', 'second_look']] },
            limit: 1,
          },
        },
      },
    },
    in: {
      $let: {
        vars: {
          ms: { $max: [0, { $toLong: { $subtract: [{ $toDate: '$$entry.at' }, { $toDate: '$first_seen_at' }] } }] },
        },
        in: {
          $cond: [
            { $ifNull: ['$$entry', false] },
            { $trunc: ['$$ms', { $min: [0, { $subtract: [2, { $strLenBytes: { $toString: '$$ms' } }] }] }] },
            null,
          ],
        },
      },
    },
  },
}

const TOTALS = {
  _id: {
    verdict: '$verdict',
    reason: '$reason',
    kind: '$kind',
    currency: '$currency',
    state: '$state',
    // Older actions have no mode. They must not make a total of their own beside those whose mode is null.
    mode: { $ifNull: ['$mode', null] },
    actor_id: '$actor_id',
    bucket: { $ifNull: ['$verdict_bucket', BUCKET_OF_TIMELINE] },
  },
  count: { $sum: 1 },
  amount: { $sum: { $toLong: { $ifNull: ['$amount', 0] } } },
  first: { $min: '$provider_created_at' },
  last: { $max: '$provider_created_at' },
  withoutNotification: { $sum: { $cond: [{ $eq: ['$event_ids', []] }, 1, 0] } },
}

/** A pipeline, because a day that waits for its count keeps its place. */
function markOf({ projectId, connectionId, day }: CountedDay & { readonly projectId: string }, now: number): object[] {
  const kept = (field: string, initial: unknown) => ({ $ifNull: [`$${field}`, initial] })
  return [
    {
      $set: {
        project_id: { $literal: projectId },
        connection_id: { $literal: connectionId },
        day: new Date(day),
        marks: { $add: [kept('marks', 0), 1] },
        counted: kept('counted', 0),
        count_at: kept('count_at', new Date(now)),
        totals: kept('totals', []),
        times: kept('times', { verdict: [], acknowledgement: [], resolution: [] }),
      },
    },
  ]
}
