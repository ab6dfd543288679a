import {
  type Action,
  countInBuckets,
  type DailyTimes,
  type DailyTotal,
  type Incident,
  sumBuckets,
} from '@backstop/contracts'

export interface DayCount {
  readonly totals: readonly DailyTotal[]
  readonly times: DailyTimes
}

/** What the actions of one total have in common. */
export type DailyTotalKey = Omit<DailyTotal, 'count' | 'amount'>

const VERDICT_ENTRIES = new Set(['explained', 'second_look'])

/** Adds the counts of several connections. */
export function sumDays(days: readonly DayCount[]): DayCount {
  const totals = new Map<string, DailyTotal>()
  for (const total of days.flatMap(day => day.totals)) {
    const key = keyOf(total)
    const { count, amount } = totals.get(key) ?? { count: 0, amount: 0 }
    totals.set(key, { ...total, count: count + total.count, amount: amount + total.amount })
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
