import { z } from 'zod'

/** The periods that a limit applies to, in UTC: a day from midnight, a week from Monday, a month from its first day. */
export const LimitInterval = z.enum(['day', 'week', 'month'])
export type LimitInterval = z.infer<typeof LimitInterval>

/** One period, in UTC. */
export interface Period {
  /** `YYYY-MM-DD` */
  readonly firstDay: string
  readonly startsAt: number
  /** Exclusive. */
  readonly endsAt: number
}

/** The period that contains a time: a day from midnight, a week from Monday, a month from its first day. */
export function periodOf(interval: LimitInterval, now: number): Period {
  const at = new Date(now)
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()]
  const sinceMonday = (at.getUTCDay() + 6) % 7
  const bounds = {
    day: [Date.UTC(year, month, day), Date.UTC(year, month, day + 1)],
    week: [Date.UTC(year, month, day - sinceMonday), Date.UTC(year, month, day - sinceMonday + 7)],
    month: [Date.UTC(year, month, 1), Date.UTC(year, month + 1, 1)],
  } as const
  const [startsAt, endsAt] = bounds[interval]
  return { firstDay: new Date(startsAt).toISOString().slice(0, 10), startsAt, endsAt }
}
