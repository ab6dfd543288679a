import {
  type Action,
  countInBuckets,
  type DailyActor,
  type DailyTimes,
  type DailyTotal,
  type Incident,
  movedNoMoney,
  sumBuckets,
} from '@backstop/contracts'

/** What the sum of a project has of each connection. */
export interface DaySum {
  readonly totals: readonly DailyTotal[]
  readonly times: DailyTimes
}

/** The counts of a day of one connection. */
export interface DayCount extends DaySum {
  readonly actors: readonly DailyActor[]
  /** Number of actions that were found by reading the provider only. */
  readonly withoutNotification: number
}

/** What the actions of one total have in common. */
export type DailyTotalKey = Omit<DailyTotal, 'count' | 'amount'>

const VERDICT_ENTRIES = new Set(['explained', 'second_look'])

/** The most actors of a day and connection that are kept, with all their counts. */
const MAX_ACTORS = 1_000

/** Actions with the same total that one actor made; null if the provider named none. */
export interface CountedActions extends DailyTotal {
  readonly actor_id: string | null
  readonly first: string
  readonly last: string
}

/**
 * The counts of the actors with the most actions, by kind, currency and mode. Amounts that moved no money in the end are left out. Whole
 * actors are left out, so that the counts of every listed one are complete.
 */
export function countActors(groups: readonly CountedActions[]): DailyActor[] {
  const lines = new Map<string, DailyActor>()
  const totals = new Map<string, number>()
  for (const { actor_id, kind, currency, mode, state, count, amount, first, last } of groups) {
    if (actor_id === null) continue
    const key = [actor_id, kind, currency, mode].join()
    const known = lines.get(key) ?? { actor_id, kind, currency, mode, count: 0, amount: 0, first, last }
    totals.set(actor_id, (totals.get(actor_id) ?? 0) + count)
    lines.set(key, {
      ...known,
      count: known.count + count,
      amount: known.amount + (movedNoMoney(state) ? 0 : amount),
      ...spanOf([known.first, known.last, first, last]),
    })
  }
  const ranked = [...totals].sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1))
  const kept = new Set(ranked.slice(0, MAX_ACTORS).map(([id]) => id))
  return [...lines]
    .filter(([, { actor_id }]) => kept.has(actor_id))
    .sort(([a, one], [b, other]) => other.count - one.count || (a < b ? -1 : 1))
    .map(([, line]) => line)
}

/** The first and the last of some times. */
function spanOf(times: readonly string[]): Pick<DailyActor, 'first' | 'last'> {
  const ordered = times.toSorted()
  return { first: ordered[0] ?? '', last: ordered.at(-1) ?? '' }
}

/** Adds the counts of several connections. */
export function sumDays(days: readonly DaySum[]): DaySum {
  const totals = new Map<string, DailyTotal>()
  for (const total of days.flatMap(day => day.totals)) {
    const key = keyOf(total)
    const { count, amount } = totals.get(key) ?? { count: 0, amount: 0 }
    const { verdict, reason, kind, currency, state, mode } = total
    const sum = { count: count + total.count, amount: amount + total.amount }
    totals.set(key, { verdict, reason, kind, currency, state, mode, ...sum })
  }
  const timesOf = (what: keyof DailyTimes) => sumBuckets(days.flatMap(({ times }) => times[what]))
  return {
    totals: sortTotals([...totals.values()]),
    times: {
      verdict: timesOf('verdict'),
      acknowledgement: timesOf('acknowledgement'),
      resolution: timesOf('resolution'),
    },
  }
}

/** How long people needed for the incidents of a day. */
export function countIncidentTimes(
  incidents: readonly Pick<Incident, 'opened_at' | 'acknowledged_at' | 'resolved_at'>[],
): Omit<DailyTimes, 'verdict'> {
  const since = (opened_at: string, end: string | null | undefined) =>
    end == null ? [] : [Date.parse(end) - Date.parse(opened_at)]
  return {
    acknowledgement: countInBuckets(
      incidents.flatMap(({ opened_at, acknowledged_at }) => since(opened_at, acknowledged_at)),
    ),
    resolution: countInBuckets(incidents.flatMap(({ opened_at, resolved_at }) => since(opened_at, resolved_at))),
  }
}

/** Totals always have the same order, so that counts can be compared. */
function sortTotals(totals: readonly DailyTotal[]): DailyTotal[] {
  return totals.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}

function keyOf({ verdict, reason, kind, currency, state, mode }: DailyTotalKey): string {
  return [verdict, reason, kind, currency, state, mode].join()
}

/** Milliseconds from the first record of an action to its first verdict; undefined without a verdict. */
export function timeToVerdict({
  timeline,
  first_seen_at,
}: Pick<Action, 'timeline' | 'first_seen_at'>): number | undefined {
  const entry = timeline.find(({ what }) => VERDICT_ENTRIES.has(what))
  return entry === undefined ? undefined : Date.parse(entry.at) - Date.parse(first_seen_at)
}
