import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'
import type * as z from 'zod/mini'

type Shape = Record<string, z.ZodMiniType>
type Values<S extends Shape> = { [K in keyof S]?: z.output<S[K]> }
/** Undefined removes a filter. */
type Changes<S extends Shape> = { [K in keyof S]?: z.output<S[K]> | undefined }

/** What a control of one filter gets: its value, and what changes it. */
type Bind<S extends Shape> = <K extends keyof S & string>(
  name: K,
) => { value: Values<S>[K]; onChange: (value: z.output<S[K]> | undefined) => void }

/**
 * The search params of the page as checked values, a function that changes them, and one that binds the control of a filter to it. The URL is the state: a param that does not pass
 * its check is ignored, as if it were missing.
 */
export function useFilters<S extends Shape>(shape: S): [Values<S>, (change: Changes<S>) => void, Bind<S>] {
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
  const bind: Bind<S> = name => ({ value: values[name], onChange: value => change({ [name]: value } as Changes<S>) })
  return [values, change, bind]
}
