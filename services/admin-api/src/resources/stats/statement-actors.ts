import { type DailyTotalsDocument, decimalAmount, type Statement } from '@backstop/contracts'
import { csvLine } from '../../http/whole-list/csv.ts'
import type { DocumentFilter } from '../../store/collection.ts'
import type { ReadCollections } from '../../store/stores.ts'
import { stopIfAborted } from '../../store/walk-pages.ts'
import { type ActorCounts, sumActors } from '../actors/rules/show-actor.ts'

/** The most lines by actor, because a platform may have many thousand actors. */
const MAX_LINES = 1_000

type ByActor = Pick<Statement, 'actors' | 'actors_complete'>

/** The lines of a statement by actor, those with the most actions first, with the names that people gave. */
export async function readStatementActors(
  { actors, dailyTotals }: Pick<ReadCollections, 'actors' | 'dailyTotals'>,
  projectId: string,
  counted: DocumentFilter<DailyTotalsDocument>,
  signal: AbortSignal,
): Promise<ByActor> {
  const sums = new Map<string, ActorCounts>()
  for await (const batch of dailyTotals.batches({ ...counted, actor_count: { min: 1 } }, ['actors'])) {
    stopIfAborted(signal)
    sumActors(
      batch.map(day => day.actors ?? []),
      sums,
    )
  }
  // The named actors of a project are few, and those that acted may be many.
  const named = await actors.findAll({ project_id: projectId, removed_at: null })
  const names = new Map(named.map(({ _id, name }) => [_id, name]))
  const lines = [...sums]
    .flatMap(([actor_id, { totals }]) => totals.map(total => ({ actor_id, ...total })))
    .sort((a, b) => b.count - a.count || (a.actor_id < b.actor_id ? -1 : 1))
  return {
    actors: lines.slice(0, MAX_LINES).map(({ actor_id, ...total }) => {
      const name = names.get(actor_id) ?? null
      return { actor_id, ...(name === null ? {} : { actor_name: name }), ...total }
    }),
    actors_complete: lines.length <= MAX_LINES,
  }
}

const COLUMNS = [
  ...['connection_id', 'month_utc', 'actor_id', 'actor_name', 'kind', 'currency', 'mode'],
  ...['count', 'amount', 'amount_minor_units', 'recount_pending', 'actors_complete'],
]

/**
 * The lines by actor as CSV. A statement of a project has no connection_id. Before the first count of a month, one line without an actor
 * says that its actions are not counted yet.
 */
export function actorsToCsv({
  connection_id,
  month,
  actors,
  actors_complete,
  recount_pending,
}: Pick<Statement, 'connection_id' | 'month' | 'recount_pending'> & ByActor): string {
  const ends = [recount_pending, actors_complete]
  const rows = actors.map(({ actor_id, actor_name, kind, currency, mode, count, amount }) => {
    const sums = currency === null ? [null, null] : [decimalAmount(amount, currency), amount]
    return [connection_id, month, actor_id, actor_name, kind, currency, mode, count, ...sums, ...ends]
  })
  if (rows.length === 0 && recount_pending) {
    rows.push([connection_id, month, null, null, null, null, null, 0, null, null, ...ends])
  }
  return [COLUMNS, ...rows].map(csvLine).join('')
}
