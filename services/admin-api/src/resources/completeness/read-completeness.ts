import type { Completeness, ConnectionCompleteness, ConnectionDocument, ProjectDocument } from '@backstop/contracts'
import type { ReadCollections } from '../../store/stores.ts'
import { stopIfAborted } from '../../store/walk-pages.ts'
import { boundsOf, type Period, shownPeriod, summarizeStatement } from '../stats/rules/summarize-days.ts'
import { isRecountPending } from '../stats/stats.ts'
import { judgeCompleteness, outagesIn } from './rules/judge-completeness.ts'

type Stores = Pick<
  ReadCollections,
  'connections' | 'sweeps' | 'sweepDays' | 'dailyTotals' | 'inbox' | 'uptimes' | 'heartbeat'
>

export interface CompletenessRequest {
  readonly project: Pick<ProjectDocument, '_id' | 'name'>
  /** Undefined for all connections of the project. */
  readonly connection: ConnectionDocument | undefined
  readonly period: Period
  readonly now: Date
  readonly signal: AbortSignal
}

/** Each connection is several reads. */
const MAX_CONNECTIONS = 100
/** The most notifications of an outcome that are counted, as the answer says. */
const MAX_NOTIFICATIONS = 100
const DAY_MS = 86_400_000

/** Reads the records of a period, and states whether everything was read and judged. */
export async function readCompleteness(stores: Stores, request: CompletenessRequest): Promise<Completeness> {
  const { project, period, now, signal } = request
  const { shown: connections, isComplete } = await findConnections(stores, request)
  const judged: ConnectionCompleteness[] = []
  for (const connection of connections) {
    stopIfAborted(signal)
    judged.push(judgeCompleteness(await readFacts(stores, connection, period, now), period, now))
  }
  const isMissing = (await stores.heartbeat.find({ _id: 'alarm' }))?.missing === true
  return {
    project_id: project._id,
    project_name: project.name,
    ...shownPeriod(period),
    made_at: now.toISOString(),
    outages: outagesIn(await stores.uptimes.findAll({}), isMissing, period),
    connections: judged,
    connections_complete: isComplete,
  }
}

/** The connections that existed in the period, also those that were deleted since, the newest first. */
async function findConnections(stores: Stores, { project, connection, period }: CompletenessRequest) {
  if (connection !== undefined) return { shown: [connection], isComplete: true }
  const found = await stores.connections.page({
    where: { project_id: project._id },
    by: 'created_at',
    window: { before: period.to },
    limit: MAX_CONNECTIONS + 1,
  })
  const shown = found.filter(({ deleted_at }) => deleted_at === null || deleted_at > period.from)
  return { shown: shown.slice(0, MAX_CONNECTIONS), isComplete: found.length <= MAX_CONNECTIONS }
}

async function readFacts(stores: Stores, connection: ConnectionDocument, period: Period, now: Date) {
  const connection_id = connection._id
  const isBeingCounted = await isRecountPending(stores, { connection_id }, period)
  const [counts, sweep, days, [first], waiting, unusable] = await Promise.all([
    countDays(stores, connection_id, period, now),
    stores.sweeps.find({ _id: connection_id }),
    stores.sweepDays.findAll({ connection_id, day: { min: period.from } }),
    stores.sweepDays.page({ where: { connection_id }, by: 'day', oldestFirst: true, limit: 1 }),
    countNotifications(stores, connection_id, 'held', period),
    countNotifications(stores, connection_id, 'parked', period),
  ])
  return {
    ...{ connection, sweep, days, isBeingCounted, recordedFrom: first?.recorded_from ?? null },
    ...counts,
    waitingNotifications: waiting,
    unusableNotifications: unusable,
  }
}

async function countDays({ dailyTotals }: Stores, connection_id: string, period: Period, now: Date) {
  const today = new Date(Math.floor(now.getTime() / DAY_MS) * DAY_MS)
  const summary = summarizeStatement()
  let [pending, pendingSinceYesterday] = [0, 0]
  let withoutNotification: number | null = 0
  const days = dailyTotals.batches({ connection_id, day: boundsOf(period) }, ['day', 'totals', 'without_notification'])
  for await (const batch of days) {
    for (const one of batch) {
      summary.add(one)
      const ofDay = one.totals.reduce((sum, { verdict, count }) => sum + (verdict === 'pending' ? count : 0), 0)
      pending += ofDay
      if (one.day < today) pendingSinceYesterday += ofDay
      const isKnown = one.without_notification !== undefined || one.totals.length === 0
      withoutNotification =
        withoutNotification === null || !isKnown ? null : withoutNotification + (one.without_notification ?? 0)
    }
  }
  return { lines: summary.show(), pending, pendingSinceYesterday, withoutNotification }
}

async function countNotifications(
  { inbox }: Stores,
  connection_id: string,
  outcome: 'held' | 'parked',
  { from, to }: Period,
): Promise<number> {
  const found = await inbox.page({
    where: { connection_id, outcome },
    by: 'received_at',
    window: { from, before: to },
    limit: MAX_NOTIFICATIONS,
  })
  return found.length
}
