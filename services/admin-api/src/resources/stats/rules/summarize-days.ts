import {
  type DailyTotal,
  type DailyTotalsDocument,
  medianOf,
  movedNoMoney,
  type StatementCategory,
  type StatementLine,
  type Stats,
  type TimeBucket,
} from '@backstop/contracts'

type Interval = Stats['interval']

/** Sums days one by one, in memory of the sums. */
export interface Summary<Day, Shown> {
  add(day: Day): void
  show(): Shown
}

/** Sums the totals of days by verdict, kind, currency and mode, in total and for each interval. */
export function summarizeDays(
  interval: Interval,
): Summary<Pick<DailyTotalsDocument, 'day' | 'totals' | 'times'>, Pick<Stats, 'totals' | 'series' | 'times'>> {
  const series = new Map<number, Sums<Verdicted>>()
  const times = { verdict: createHistogram(), acknowledgement: createHistogram(), resolution: createHistogram() }
  return {
    add(day) {
      const at = beginningOf(interval, day.day).getTime()
      const ofInterval = series.get(at) ?? createSums<Verdicted>()
      series.set(at, ofInterval)
      for (const total of day.totals) ofInterval.add(pickVerdict(total), countCarriedOut(total))
      for (const what of ['verdict', 'acknowledgement', 'resolution'] as const) times[what].add(day.times[what])
    },
    show() {
      const intervals = [...series].sort(([a], [b]) => a - b).map(([at, sums]) => ({ at, sums: sums.show() }))
      const totals = createSums<Verdicted>()
      for (const { sums } of intervals) for (const one of sums) totals.add(pickVerdict(one), one)
      return {
        totals: totals.show(),
        series: intervals.flatMap(({ at, sums }) => sums.map(one => ({ at: new Date(at).toISOString(), ...one }))),
        times: {
          verdict: times.verdict.show(),
          acknowledgement: times.acknowledgement.show(),
          resolution: times.resolution.show(),
        },
      }
    },
  }
}

/** Sums the lines of a statement: the totals of its days by category, kind, currency and mode. */
export function summarizeStatement(): Summary<Pick<DailyTotalsDocument, 'totals'>, StatementLine[]> {
  const sums = createSums<Pick<StatementLine, 'category' | 'kind' | 'currency' | 'mode'>>()
  return {
    add({ totals }) {
      for (const total of totals) {
        const { kind, currency, mode, amount } = total
        sums.add({ category: categoryOf(total), kind, currency, mode }, { ...countCarriedOut(total), amount })
      }
    },
    show: () => sums.show().map(({ not_carried_out: _, ...line }) => line),
  }
}

/** The line of a statement for an action. */
function categoryOf({ verdict, reason, state }: Pick<DailyTotal, 'verdict' | 'reason' | 'state'>): StatementCategory {
  if (movedNoMoney(state)) return 'not_carried_out'
  switch (reason) {
    case 'provider_ref_matches':
    case 'request_id_matches':
    case 'idempotency_key_matches':
    case 'credit_note_matches':
    case 'amount_and_time_match':
      return 'made_by_our_software'
    case 'expected_change_matches':
      return 'expected'
    case 'out_of_band_ignore':
      return 'out_of_band_ignored'
    default:
      return verdict === 'unexplained' || verdict === 'pending' ? verdict : 'other'
  }
}

type Verdicted = Pick<Stats['totals'][number], 'verdict' | 'kind' | 'currency' | 'mode'>

function pickVerdict({ verdict, kind, currency, mode }: Verdicted): Verdicted {
  return { verdict, kind, currency, mode }
}

type Counted = Pick<Stats['totals'][number], 'count' | 'not_carried_out' | 'amount'>

/** The actions that moved no money are counted, and their amounts are left out. */
function countCarriedOut({ state, count, amount }: DailyTotal): Counted {
  return movedNoMoney(state) ? { count, not_carried_out: count, amount: 0 } : { count, not_carried_out: 0, amount }
}

type Sums<K> = ReturnType<typeof createSums<K & object>>

/** Sums counts and amounts with the same key. The sums are sorted by the key. */
function createSums<K extends object>() {
  const sums = new Map<string, K & Counted>()
  return {
    add(key: K, { count, not_carried_out, amount }: Counted): void {
      const text = Object.values(key).map(String).join()
      const sum = sums.get(text)
      if (sum === undefined) sums.set(text, { ...key, count, not_carried_out, amount })
      else {
        sum.count += count
        sum.not_carried_out += not_carried_out
        sum.amount += amount
      }
    },
    show: () => [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one),
  }
}

/** Counts durations of several days. */
function createHistogram() {
  const counts = new Map<number, number>()
  return {
    add(buckets: readonly TimeBucket[]): void {
      for (const [lowerMs, count] of buckets) counts.set(lowerMs, (counts.get(lowerMs) ?? 0) + count)
    },
    show: () => ({
      count: [...counts.values()].reduce((all, count) => all + count, 0),
      median_ms: medianOf([...counts]),
    }),
  }
}

const DAY_MS = 86_400_000
const DEFAULT_DAYS = 30

/** Whole days (UTC). `to` is exclusive. */
export interface Period {
  readonly from: Date
  readonly to: Date
}

/** The whole days of a period that a caller names. A day without a time ends a period exclusively. */
export function periodOf(from: string | undefined, to: string | undefined, now: Date): Period {
  const end = Math.ceil((to === undefined ? now.getTime() + 1 : Date.parse(to)) / DAY_MS) * DAY_MS
  const begin = from === undefined ? end - DEFAULT_DAYS * DAY_MS : Math.floor(Date.parse(from) / DAY_MS) * DAY_MS
  return { from: new Date(begin), to: new Date(end) }
}

/** Days are whole milliseconds, and both bounds of a range are included. */
export function boundsOf({ from, to }: Period) {
  return { min: from, max: new Date(to.getTime() - 1) }
}

export function shownPeriod({ from, to }: Period) {
  return { from: from.toISOString(), to: to.toISOString() }
}

export function daysIn({ from, to }: Period): number {
  return (to.getTime() - from.getTime()) / DAY_MS
}

/** The month in UTC. @param month as 2026-11 */
export function monthOf(month: string): Period {
  const [year = 0, number = 0] = month.split('-').map(Number)
  return { from: new Date(Date.UTC(year, number - 1)), to: new Date(Date.UTC(year, number)) }
}

/** The beginning of the interval that contains a day. Weeks begin on Monday. */
export function beginningOf(interval: 'day' | 'week' | 'month', day: Date): Date {
  switch (interval) {
    case 'day':
      return day
    case 'week':
      return new Date(day.getTime() - ((day.getUTCDay() + 6) % 7) * DAY_MS)
    case 'month':
      return new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth()))
    default:
      return interval satisfies never
  }
}
