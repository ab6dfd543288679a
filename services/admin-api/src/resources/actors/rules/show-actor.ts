import { type ActionDocument, type ActorDocument, actorOf, type DailyActor, type ShownActor } from '@backstop/contracts'

/** The counts of an actor over all days and connections. */
export type ActorCounts = Pick<ShownActor, 'first_at' | 'last_at' | 'actions' | 'totals'>

/** Adds up the counts of days, by actor. */
export function sumActors(days: Iterable<readonly DailyActor[]>, sums = new Map<string, ActorCounts>()) {
  for (const day of days) {
    for (const { actor_id, kind, currency, mode, count, amount, first, last } of day) {
      const known = sums.get(actor_id) ?? { first_at: null, last_at: null, actions: 0, totals: [] }
      const same = known.totals.find(total => total.kind === kind && total.currency === currency && total.mode === mode)
      const others = known.totals.filter(total => total !== same)
      const sum = { kind, currency, mode, count: (same?.count ?? 0) + count, amount: (same?.amount ?? 0) + amount }
      sums.set(actor_id, {
        first_at: known.first_at === null || first < known.first_at ? first : known.first_at,
        last_at: known.last_at === null || last > known.last_at ? last : known.last_at,
        actions: known.actions + count,
        totals: [...others, sum],
      })
    }
  }
  return sums
}

const NOTHING_COUNTED: ActorCounts = { first_at: null, last_at: null, actions: 0, totals: [] }

/**
 * An actor as the API shows it.
 * @param newest its newest action, which has the words of the provider; undefined if none is known
 */
export function showActor(
  { actorId, projectId }: { readonly actorId: string; readonly projectId: string },
  said: ActorDocument | undefined,
  newest: ActionDocument | undefined,
  counts: ActorCounts = NOTHING_COUNTED,
): ShownActor {
  const prefix = said?.prefix ?? null
  const named = newest?.origin === undefined ? undefined : actorOf(newest.origin)
  const isRemoved = said !== undefined && said.removed_at !== null
  return {
    actor_id: actorId,
    project_id: projectId,
    kind: prefix === null ? (named?.kind ?? null) : 'key_prefix',
    label: prefix ?? named?.label ?? null,
    provider: prefix === null ? (newest?.provider ?? null) : 'processor',
    account: newest?.account ?? null,
    name: isRemoved ? null : (said?.name ?? null),
    role: isRemoved ? 'unknown' : (said?.role ?? 'unknown'),
    ...counts,
    totals: counts.totals.toSorted((a, b) => b.count - a.count),
    version: said?.version ?? 0,
  }
}
