/** Whether everything of a period was read and judged. */
import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'

export type { Completeness } from '@backstop/client'

type CompletenessQuery = NonNullable<Parameters<typeof api.completeness.get>[0]>

/** No live event has it, so it is read again whenever it is shown. */
export function completenessQuery(params: CompletenessQuery) {
  return queryOptions({
    queryKey: ['completeness', 'one', params],
    queryFn: ({ signal }) => api.completeness.get(params, { signal }),
    staleTime: 0,
  })
}
