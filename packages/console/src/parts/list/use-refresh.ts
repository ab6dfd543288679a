import { useInterval } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef } from 'react'
import { readAgain } from '../../api/list-cache.ts'
import { type LiveEvent, useLiveEvents } from '../../api/live.ts'

const LIVE_MS = 2_000
const everyEvent = () => true

/**
 * Reads queries again after live events of these types, at most every two seconds, because a storm sends hundreds of events.
 * @param concerns which of these events; every one by default. Pass a function of the module too
 * @param keys the beginnings of the query keys. Pass constants of the module: a new array would subscribe again
 */
export function useLiveRefresh(
  types: readonly LiveEvent['type'][],
  keys: readonly (readonly string[])[],
  concerns: (event: LiveEvent) => boolean = everyEvent,
): void {
  const queryClient = useQueryClient()
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  useLiveEvents(
    useCallback(
      event => {
        if (!types.includes(event.type) || !concerns(event) || timer.current !== undefined) return
        timer.current = setTimeout(() => {
          timer.current = undefined
          for (const queryKey of keys) readAgain(queryClient, { queryKey })
        }, LIVE_MS)
      },
      [queryClient, types, keys, concerns],
    ),
  )
}

const INTERVAL_MS = 10_000

/** Reads a resource again every ten seconds while the page is visible: no live event reports its changes. */
export function useReadAgain(resource: string): void {
  const queryClient = useQueryClient()
  const read = () => {
    if (document.visibilityState === 'visible') readAgain(queryClient, { queryKey: [resource] })
  }
  useInterval(read, INTERVAL_MS, { autoInvoke: true })
}
