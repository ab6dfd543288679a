import { type CountedDay, countedDayId, countedDayOf, dayOf, type Listing } from '@backstop/verdict'

/** A day to count, with the project of its connection. */
export interface TouchedDay extends CountedDay {
  readonly projectId: string
}

/** The days whose totals may change because these records were listed again. */
export function touchedDays(
  listed: readonly { readonly projectId: string; readonly listing: Listing }[],
): TouchedDay[] {
  const touched = new Map<string, TouchedDay>()
  for (const { projectId, listing } of listed) {
    for (const record of [...listing.actions, ...listing.merged.map(({ record }) => record)]) {
      const ofIncidents = record.incidents.map(({ connectionId, openedAt }) => ({ connectionId, day: dayOf(openedAt) }))
      for (const day of [countedDayOf(record), ...(record.earlierDays ?? []), ...ofIncidents]) {
        touched.set(countedDayId(day), { ...day, projectId })
      }
    }
  }
  return [...touched.values()]
}
