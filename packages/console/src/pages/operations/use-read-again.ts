import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { readAgain } from '../../api/list-cache.ts'

const INTERVAL_MS = 10_000

/** Reads a resource again every ten seconds while the page is visible: no live event reports its changes. */
export function useReadAgain(resource: string): void {
  const queryClient = useQueryClient()
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') readAgain(queryClient, { queryKey: [resource] })
    }, INTERVAL_MS)
    return () => clearInterval(timer)
  }, [queryClient, resource])
}
