import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'
import type * as z from 'zod/mini'

/** The search params of a page, each with its check. */
export type Params = Readonly<Record<string, z.ZodMiniType>>
export type Values<P extends Params> = { [K in keyof P]?: z.output<P[K]> }
/** Undefined removes a filter. */
export type Changes<P extends Params> = { [K in keyof P]?: z.output<P[K]> | undefined }

/** What a control of one filter gets: its value, and what changes it. */
type Bind<P extends Params> = <K extends keyof P & string>(
  name: K,
) => { value: Values<P>[K]; onChange: (value: z.output<P[K]> | undefined) => void }

/**
 * The search params of the page as checked values, a function that changes them, and one that binds the control of a filter to it. The URL is the state: a param that does not pass
 * its check is ignored, as if it were missing.
 */
export function useFilters<P extends Params>(params: P): [Values<P>, (change: Changes<P>) => void, Bind<P>] {
  const search: Record<string, unknown> = useSearch({ strict: false })
  const navigate = useNavigate()
  const values = useMemo(() => {
    const checked = Object.entries(params).flatMap(([name, type]) => {
      const { success, data } = type.safeParse(search[name])
      return success && data !== undefined ? [[name, data]] : []
    })
    return Object.fromEntries(checked) as Values<P>
  }, [search, params])
  const change = useCallback(
    (changed: Changes<P>) =>
      void navigate({ to: '.', search: ((old: object) => ({ ...old, ...changed })) as never, replace: true }),
    [navigate],
  )
  const bind: Bind<P> = name => ({ value: values[name], onChange: value => change({ [name]: value } as Changes<P>) })
  return [values, change, bind]
}
