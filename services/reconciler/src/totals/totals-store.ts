import type { CountedDay } from '@backstop/verdict'
import type { DayCount } from './rules/count-day.ts'
import type { TouchedDay } from './rules/touched-days.ts'

/** A day that a process has claimed for a count. */
export interface DayToCount extends TouchedDay {
  /** The number of requests and claims so far, which is another one for each claim. */
  readonly marks: number
}

/** The clocks of two processes differ by less. */
export const CLOCK_DIFFERENCE_MS = 60_000

/** A day of all connections of a project. */
export type ProjectDay = Pick<TouchedDay, 'projectId' | 'day'>

/** The daily totals. All methods throw AppError `unavailable` if the database is unavailable. */
export interface TotalsStore {
  /**
   * Requests counts of these days. Call it after the actions and incidents are listed. A day that is due already is left alone, because
   * it will be claimed, and counted, later than this call.
   */
  mark(days: readonly TouchedDay[], now: number): Promise<void>
  /** The day that waits longest for its count. Other processes do not get it before `leasedUntil`. */
  claimNext(now: number, leasedUntil: number): Promise<DayToCount | undefined>
  /** Counts the listed actions and incidents of a day. */
  count(day: CountedDay): Promise<DayCount>
  /** Stores the count of a day, unless a later count is stored. The day keeps its mark until `finish`. */
  save(day: DayToCount, count: DayCount): Promise<void>
  /** Adds the stored counts of all connections of a project. The stored sum contains every count that was saved before the call. */
  sumProject(day: ProjectDay): Promise<void>
  /**
   * Removes the mark of a day. If the day was marked again since it was claimed, it is counted again at `nextAt`; also if the lease has ended or
   * ends soon, because others may have seen the day as due.
   */
  finish(day: DayToCount, nextAt: number): Promise<void>
}
