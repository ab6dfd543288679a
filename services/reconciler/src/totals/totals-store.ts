import type { CountedDay } from '../case/counted-day.ts'
import type { DayCount } from './rules/count-day.ts'
import type { TouchedDay } from './rules/touched-days.ts'

/** A day whose count is requested. */
export interface DayToCount extends TouchedDay {
  /** The number of requests so far. */
  readonly marks: number
}

/** A day of all connections of a project. */
export type ProjectDay = Pick<TouchedDay, 'projectId' | 'day'>

/** The daily totals. All methods throw AppError `unavailable` if the database is unavailable. */
export interface TotalsStore {
  /** Requests counts of these days. Call it after the actions and incidents are listed. */
  mark(days: readonly TouchedDay[], now: number): Promise<void>
  /** The day that waits longest for its count. Other processes do not get it before `leasedUntil`. */
  claimNext(now: number, leasedUntil: number): Promise<DayToCount | undefined>
  /** Counts the listed actions and incidents of a day. */
  count(day: CountedDay): Promise<DayCount>
  /** Stores the count of a day, unless a later count is stored. The day keeps its mark until `finish`. */
  save(day: DayToCount, count: DayCount): Promise<void>
  /** Adds the stored counts of all connections of a project. The stored sum contains every count that was saved before the call. */
  sumProject(day: ProjectDay): Promise<void>
  /** Removes the mark of a day. If the day was marked again since it was claimed, it is counted again at `nextAt`. */
  finish(day: DayToCount, nextAt: number): Promise<void>
}
