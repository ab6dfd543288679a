import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'

export type Stats = Awaited<ReturnType<typeof api.stats.get>>

const DAY_MS = 24 * 60 * 60_000

/** The verdicts of the last days, today included, by UTC day. No live event has them, so they are read again whenever they are shown. */
export function statsQuery(project_id: string, days: number) {
  return queryOptions({
    queryKey: ['stats', 'days', project_id, days],
    queryFn: ({ signal }) =>
      api.stats.get(
        {
          project_id,
          interval: 'day',
          from: new Date(Date.now() - (days - 1) * DAY_MS).toISOString().slice(0, 10),
        },
        { signal },
      ),
    staleTime: 0,
  })
}
