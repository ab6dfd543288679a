import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'
import type * as z from 'zod/mini'

type Shape = Record<string, z.ZodMiniType>
type Values<S extends Shape> = { [K in keyof S]?: z.output<S[K]> }
/** Undefined removes a filter. */
type Changes<S extends Shape> = { [K in keyof S]?: z.output<S[K]> | undefined }

/**
 * The search params of the page as checked values, and a function that changes them. The URL is the state: a param that does not pass
 * its check is ignored, as if it were missing.
 */
export function useFilters<S extends Shape>(shape: S): [Values<S>, (change: Changes<S>) => void] {
  const search: Record<string, unknown> = useSearch({ strict: false })
  const navigate = useNavigate()
  const values = useMemo(() => {
    const checked = Object.entries(shape).flatMap(([name, type]) => {
      const { success, data } = type.safeParse(search[name])
      return success && data !== undefined ? [[name, data]] : []
    })
    return Object.fromEntries(checked) as Values<S>
  }, [search, shape])
  const change = useCallback(
    (changed: Changes<S>) =>
      void navigate({ to: '.', search: ((old: object) => ({ ...old, ...changed })) as never, replace: true }),
    [navigate],
  )
  return [values, change]
}
