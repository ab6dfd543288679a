import {
  type ConnectionDocument,
  decimalAmount,
  Statement,
  StatementQuery,
  Stats,
  StatsQuery,
} from '@backstop/contracts'
import { LRUCache } from 'lru-cache'
import type { z } from 'zod'
import type { Principal } from '../../access/rules/access.ts'
import { findInProject, findProject, notFound, projectFilterOf } from '../../http/find-resource.ts'
import { refusedField } from '../../http/refused-field.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import type { ReadCollections } from '../../store/stores.ts'
import { ofCustomer } from '../actions/of-customer.ts'
import { countActions } from './count-actions.ts'
import {
  boundsOf,
  daysIn,
  monthOf,
  type Period,
  periodOf,
  shownPeriod,
  summarizeDays,
  summarizeStatement,
} from './rules/summarize-days.ts'
import { actorsToCsv, readStatementActors } from './statement-actors.ts'

const MAX_DAYS = 400
/**
 * How long a summary is reused. A count of a day is some seconds old anyway, and a dashboard that many people watch asks for the same.
 * In the second half of this time a request gets the summary at once, and has it read again for the next ones.
 */
const REUSE_MS = 2_000
/** The summaries that are kept, as JSON, and their bytes with those of their keys. One of 400 days has about 1 MiB. */
const REUSED = 500
const REUSED_BYTES = 32 * 1024 * 1024

/** /v1/stats and /v1/statements. @param timer measures the age of summaries */
export function statsRoutes({ stores }: AdminParts, timer: { now(): number } = performance): Route[] {
  const summaries = createSummaries(stores, timer)
  return [
    defineRoute({
      method: 'get',
      path: '/v1/stats',
      operationId: 'getStats',
      tag: 'Stats',
      summary: 'Count actions by verdict, kind, currency and mode',
      description:
        'An action counts on the day (UTC) when the provider made it, for the first connection that showed it. Times are those of actions and incidents of the same days. With `account`, `actor_id` or `customer_id`, the actions are counted now, at most 100,000 of the period, and `connection_id` selects every action that was seen through that connection.',
      scope: 'read',
      query: StatsQuery,
      answers: { 200: { description: 'The counts', schema: Stats } },
      refusals: ['not_found'],
      async handle({ query, principal, now }) {
        const { connection_id, interval } = query
        const own = projectFilterOf(principal, query.project_id)
        // Only ids that exist are keys of the summaries that are kept.
        if (own.project_id !== undefined) await findProject(stores, principal, own.project_id)
        if (connection_id !== undefined) await findCounted(stores, principal, connection_id, own.project_id)
        const period = requiredPeriod(query, now)
        const { account, actor_id, customer_id } = query
        const named = { ...(account && { account }), ...(actor_id && { actor_id }) }
        if (customer_id !== undefined || Object.keys(named).length > 0) {
          const counted = { ...own, ...named, connection_ids: connection_id, ...ofCustomer(customer_id, own, now) }
          const ofIncidents = customer_id === undefined ? { ...own, ...named, connection_id } : undefined
          return { status: 200, body: await countActions(stores, counted, ofIncidents, period, interval) }
        }
        return { status: 200, serialized: await summaries.read({ where: { connection_id, ...own }, period, interval }) }
      },
    }),
    statementRoute(stores),
  ]
}

/** The whole days that a query names. @throws AppError `invalid_request` if it has none, or too many */
export function requiredPeriod(
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
  now: Date,
): Period {
  const period = periodOf(from, to, now)
  if (daysIn(period) <= 0) throw refusedField('query.to', 'Give a time after from')
  if (daysIn(period) > MAX_DAYS) throw refusedField('query.from', `Give a period of at most ${MAX_DAYS} days`)
  return period
}

interface Summarized {
  readonly where: DaysOf
  readonly period: Period
  readonly interval: Stats['interval']
}

type TotalsCollections = Pick<ReadCollections, 'dailyTotals' | 'projectTotals'>

/** Reads summaries as JSON, and keeps them for a short time. Requests for the same one at the same time are one read. */
function createSummaries(stores: TotalsCollections, perf: { now(): number }) {
  const cache = new LRUCache<string, Buffer, Summarized>({
    max: REUSED,
    maxSize: REUSED_BYTES,
    // A character has two bytes at most.
    sizeCalculation: ({ length }, key) => length + 2 * key.length,
    ttl: REUSE_MS,
    ttlAutopurge: true,
    ttlResolution: 0,
    perf,
    async fetchMethod(_key, _stale, { context: { where, period, interval } }) {
      const isPending = await isRecountPending(stores, where, period)
      const summary = summarizeDays(interval)
      const asked = { ...where, day: boundsOf(period) }
      const days =
        where.connection_id === undefined
          ? stores.projectTotals.batches(asked, ['day', 'totals', 'times'])
          : stores.dailyTotals.batches(asked, ['day', 'totals', 'times'])
      for await (const batch of days) for (const day of batch) summary.add(day)
      const stats: Stats = { ...shownPeriod(period), interval, ...summary.show(), recount_pending: isPending }
      return toOwnBuffer(JSON.stringify(stats))
    },
  })
  return {
    async read(context: Summarized) {
      const key = JSON.stringify(context)
      const known = cache.get(key)
      if (known === undefined) return cache.forceFetch(key, { context })
      if (cache.getRemainingTTL(key) < REUSE_MS / 2) {
        // A failure keeps the summary until it is too old; then a request gets the error.
        cache.fetch(key, { context, forceRefresh: true }).catch(() => {})
      }
      return known
    },
  }
}

/** Buffer.from would put a short text into memory that it shares with others, so that one kept summary keeps up to 8 KiB. */
function toOwnBuffer(text: string): Buffer {
  const own = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  own.write(text)
  return own
}

function statementRoute(stores: StatementCollections): Route {
  return defineRoute({
    method: 'get',
    path: '/v1/statements',
    operationId: 'getStatement',
    tag: 'Stats',
    summary: 'Get the statement of a connection or project for a month or another period',
    description:
      'What your software made, what people announced or confirmed, what nothing explains and what is pending, with sums per currency and mode, and numbers and sums by actor. Days are those of UTC. `format=csv` answers CSV: the lines by category, or with `by=actor` by actor.',
    scope: 'read',
    query: StatementQuery,
    answers: { 200: { description: 'The statement', schema: Statement, otherMediaTypes: ['text/csv'] } },
    refusals: ['not_found'],
    async handle({ query, principal, signal }) {
      const { format, by } = query
      const { project_id, connection_id } = await findStated(stores, principal, query)
      const { month, period } = statedPeriod(query)
      const summary = summarizeStatement()
      const day = boundsOf(period)
      const counted = connection_id === null ? { project_id } : { connection_id }
      const recount_pending = await isRecountPending(stores, counted, period)
      const days =
        connection_id === null
          ? stores.projectTotals.batches({ project_id, day }, ['totals'])
          : stores.dailyTotals.batches({ connection_id, day }, ['totals'])
      for await (const batch of days) for (const one of batch) summary.add(one)
      const statement = { project_id, connection_id, month, lines: summary.show(), recount_pending }
      const file = `${connection_id ?? project_id}-${month.replace('/', '_')}.csv`
      if (format === 'csv' && by === 'category') return csvAnswer(`statement-${file}`, toCsv(statement))
      const byActor = await readStatementActors(stores, project_id, { ...counted, day }, signal)
      if (format === 'csv') return csvAnswer(`actors-${file}`, actorsToCsv({ ...statement, ...byActor }))
      return { status: 200, body: { ...statement, ...shownPeriod(period), ...byActor } }
    },
  })
}

type StatementCollections = TotalsCollections & Pick<ReadCollections, 'actors' | 'connections' | 'projects'>

/** The period of a statement, and its name. @throws AppError `invalid_request` */
function statedPeriod({ month, from, to }: z.output<typeof StatementQuery>): { month: string; period: Period } {
  const hasRange = from !== undefined && to !== undefined
  if (month !== undefined && from === undefined && to === undefined) return { month, period: monthOf(month) }
  if (month !== undefined || !hasRange) throw refusedField('query.month', 'Give either month, or from and to')
  return { month: `${from}/${to}`, period: requiredPeriod({ from, to }, new Date(0)) }
}

/** The connection or project of a statement. @throws AppError `invalid_request`, `not_found` */
async function findStated(
  stores: StatementCollections,
  principal: Principal,
  { connection_id, project_id }: z.output<typeof StatementQuery>,
): Promise<Pick<Statement, 'project_id' | 'connection_id'>> {
  if ((connection_id === undefined) === (project_id === undefined)) {
    throw refusedField('query.connection_id', 'Give either connection_id or project_id')
  }
  if (connection_id === undefined) {
    const { _id } = await findProject(stores, principal, project_id as string)
    return { project_id: _id, connection_id: null }
  }
  const connection = await findCounted(stores, principal, connection_id)
  return { project_id: connection.project_id, connection_id }
}

/** A connection whose actions are counted, also a deleted one, whose months people still file. @throws AppError `not_found` */
export async function findCounted(
  { connections }: Pick<ReadCollections, 'connections'>,
  principal: Principal,
  id: string,
  projectId?: string,
): Promise<ConnectionDocument> {
  const connection = await findInProject(connections, principal, 'connection', id)
  if (projectId !== undefined && connection.project_id !== projectId) throw notFound('connection', id)
  return connection
}

interface DaysOf {
  readonly project_id?: string
  readonly connection_id?: string | undefined
}

/** True if a day of the period waits for its count. Ask before the totals are read, so that totals that are read as final are final. */
export async function isRecountPending(
  { dailyTotals }: Pick<ReadCollections, 'dailyTotals'>,
  where: DaysOf,
  period: Period,
): Promise<boolean> {
  const waiting = { ...where, day: boundsOf(period), count_at: { min: new Date(0) } }
  return (await dailyTotals.find(waiting)) !== undefined
}

/**
 * No value needs quotes: all are ids, words of closed lists and numbers. A statement of a project has no connection_id. Before the first count of a month, one line without a category
 * says that its actions are not counted yet.
 */
function toCsv({
  connection_id,
  month,
  lines,
  recount_pending,
}: Pick<Statement, 'connection_id' | 'month' | 'lines' | 'recount_pending'>): string {
  const rows = lines.map(({ category, kind, currency, mode, count, amount }) => [
    category,
    kind,
    currency ?? '',
    mode ?? '',
    count,
    currency === null ? '' : decimalAmount(amount, currency),
    currency === null ? '' : amount,
  ])
  if (rows.length === 0 && recount_pending) rows.push(['', '', '', '', 0, '', ''])
  return [
    'connection_id,month_utc,category,kind,currency,mode,count,amount,amount_minor_units,recount_pending',
    ...rows.map(row => [connection_id ?? '', month, ...row, recount_pending].join()),
    '',
  ].join('\r\n')
}

function csvAnswer(name: string, text: string) {
  return {
    status: 200,
    headers: { 'content-type': 'text/csv; charset=utf-8', 'content-disposition': `attachment; filename="${name}"` },
    stream: async (out: NodeJS.WritableStream) => void out.end(text),
  }
}
