import type { ReactNode } from 'react'
import { type Above, PageHead } from './page-head.tsx'
import { Problem } from './problem.tsx'

/** A query of the API, as far as it is shown. */
interface Query<T> {
  readonly data: T | undefined
  readonly error: Error | null
  refetch(): unknown
}

interface Props<T> {
  query: Query<T>
  /** What failed if nothing could be read, as a sentence without a full stop. */
  what: string
  /** The shape of the data, while it is read. */
  loading?: ReactNode
  children: (data: T) => ReactNode
}

/** What was read. Data that could not be read again stays. */
export function Read<T>({ query: { data, error, refetch }, what, loading = null, children }: Props<T>) {
  if (data !== undefined) return children(data)
  return error === null ? loading : <Problem error={error} retry={() => void refetch()} what={what} />
}

interface ThingProps<T> extends Omit<Props<T>, 'what'> {
  /** The kind of the thing: the title until it is read. For example `Delivery`. */
  kind: string
  above: Above
}

/** The page of one thing. */
export function ThingPage<T>({ kind, above, query, loading, children }: ThingProps<T>) {
  if (query.data !== undefined) return children(query.data)
  return (
    <>
      <PageHead title={kind} above={above} />
      <Read
        query={query}
        what={`The ${kind.toLowerCase()} could not be read`}
        loading={
          <div className="body" aria-busy>
            {loading}
          </div>
        }
      >
        {children}
      </Read>
    </>
  )
}
