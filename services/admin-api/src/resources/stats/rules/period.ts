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
