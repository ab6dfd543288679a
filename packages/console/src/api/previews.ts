import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'

export type PreviewQuery = NonNullable<Parameters<typeof api.previews.previewMessage>[0]>

/** A preview as plain text or JSON. */
export function previewQuery(query: PreviewQuery) {
  return queryOptions({
    queryKey: ['previews', query],
    async queryFn({ signal }) {
      const answer = await api.request('GET', '/v1/previews', { query, signal })
      const text = await answer.text()
      return query.format === 'text' ? text : JSON.stringify(JSON.parse(text), null, 2)
    },
    // The sample never changes, and the settings are in the query.
    staleTime: Number.POSITIVE_INFINITY,
  })
}

/** The address of a preview as a page. */
export function previewUrl(query: PreviewQuery): string {
  const given = Object.entries({ ...query, format: 'html' }).filter(([, value]) => value !== undefined)
  return `/v1/previews?${new URLSearchParams(given as [string, string][])}`
}
