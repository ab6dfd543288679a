import type { ActionRecord, CountedDay } from './action-record.ts'

const DAY_MS = 86_400_000

/** The day that contains a time. */
export function dayOf(at: number): number {
  return Math.floor(at / DAY_MS) * DAY_MS
}

/** An action is counted for its first connection, on the day when the provider made it. */
export function countedDayOf({ seenThrough, providerCreatedAt }: ActionRecord): CountedDay {
  return { connectionId: seenThrough[0]?.id ?? '', day: dayOf(providerCreatedAt) }
}

/** The id of the daily totals, and of a counted day in a set. */
export function countedDayId({ connectionId, day }: CountedDay): string {
  return `${connectionId}/${isoDay(day)}`
}

/** The id of the daily totals of a project. */
export function projectDayId({ projectId, day }: { readonly projectId: string; readonly day: number }): string {
  return `${projectId}/${isoDay(day)}`
}

/**
 * Adds to a changed record the days for which it was counted before. They are part of the case, so that they are counted again also if
 * a process is killed after it saved the case.
 * @param stored the record as it was loaded; undefined for a new record
 */
export function noteEarlierDays(record: ActionRecord, stored: ActionRecord | undefined): ActionRecord {
  if (stored === undefined) return record
  const present = countedDayId(countedDayOf(record))
  const earlier = new Map([...(stored.earlierDays ?? []), countedDayOf(stored)].map(day => [countedDayId(day), day]))
  earlier.delete(present)
  if (earlier.size === 0) return record
  return { ...record, earlierDays: [...earlier.values()] }
}

function isoDay(day: number): string {
  return new Date(day).toISOString().slice(0, 10)
}
