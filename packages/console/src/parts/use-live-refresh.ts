import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef } from 'react'
import { readAgain } from '../api/list-cache.ts'
import { type LiveEvent, useLiveEvents } from '../api/live.ts'

const REFRESH_MS = 2_000

/**
 * Reads queries again after live events of these types, at most every two seconds, because a storm sends hundreds of events.
 * @param keys the beginnings of the query keys. Pass constants of the module: a new array would subscribe again
 */
export function useLiveRefresh(types: readonly LiveEvent['type'][], keys: readonly (readonly string[])[]): void {
  const queryClient = useQueryClient()
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  useLiveEvents(
    useCallback(
      ({ type }) => {
        if (!types.includes(type) || timer.current !== undefined) return
        timer.current = setTimeout(() => {
          timer.current = undefined
          for (const queryKey of keys) readAgain(queryClient, { queryKey })
        }, REFRESH_MS)
      },
      [queryClient, types, keys],
    ),
  )
}
