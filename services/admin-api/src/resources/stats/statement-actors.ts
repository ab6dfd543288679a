import { type DailyActor, decimalAmount, type Statement, type StatementActor } from '@backstop/contracts'
import { csvLine } from '../../http/whole-list/csv.ts'
import type { ReadCollections } from '../../store/stores.ts'
import { readActorNames } from '../actors/name-actors.ts'
import { type ActorCounts, sumActors } from '../actors/rules/show-actor.ts'

/** The lines of a statement by actor, those with the most actions first, with the names that people gave. */
export async function statementActors(
  stores: Pick<ReadCollections, 'actors'>,
  days: AsyncIterable<readonly { readonly actors?: readonly DailyActor[] }[]>,
): Promise<StatementActor[]> {
  const sums = new Map<string, ActorCounts>()
  for await (const batch of days) {
    sumActors(
      batch.map(({ actors = [] }) => actors),
      sums,
    )
  }
  const names = await readActorNames(stores, [...sums.keys()])
  return [...sums]
    .flatMap(([actor_id, { totals }]) => {
      const actor_name = names.get(actor_id)
      return totals.map(total => ({ actor_id, ...(actor_name === undefined ? {} : { actor_name }), ...total }))
    })
    .sort((a, b) => b.count - a.count || (a.actor_id < b.actor_id ? -1 : 1))
}

const COLUMNS = [
  ...['connection_id', 'month_utc', 'actor_id', 'actor_name', 'kind', 'currency', 'mode'],
  ...['count', 'amount', 'amount_minor_units', 'recount_pending'],
]

/** The lines by actor as CSV. A statement of a project has no connection_id. */
export function actorsToCsv({
  connection_id,
  month,
  actors,
  recount_pending,
}: Pick<Statement, 'connection_id' | 'month' | 'actors' | 'recount_pending'>): string {
  const rows = actors.map(({ actor_id, actor_name, kind, currency, mode, count, amount }) => {
    const sums = currency === null ? [null, null] : [decimalAmount(amount, currency), amount]
    return [connection_id, month, actor_id, actor_name, kind, currency, mode, count, ...sums, recount_pending]
  })
  return [COLUMNS, ...rows].map(csvLine).join('')
}
