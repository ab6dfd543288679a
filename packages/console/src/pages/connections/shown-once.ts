import type { CreatedConnection } from '@backstop/client'
import { useQuery } from '@tanstack/react-query'

/** The secrets that only one answer shows. They are kept in the memory of this tab until it is closed or reloaded. */
export function shownOnceKey(connectionId: string): readonly unknown[] {
  return ['shown-once', connectionId]
}

/** Null if this tab did not make the connection. */
export function useShownOnce(connectionId: string): CreatedConnection | null {
  const { data } = useQuery<CreatedConnection | null>({
    queryKey: shownOnceKey(connectionId),
    queryFn: () => null,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  })
  return data ?? null
}
