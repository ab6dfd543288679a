import type { ReactNode } from 'react'
import { PageHead } from './page-head.tsx'
import { Problem } from './problem.tsx'

interface Props {
  /** The kind of thing that the page is about, for example `Delivery`. */
  title: string
  /** The list that it is in, as a link. */
  above: ReactNode
  /** Why it could not be read; null while it is read. */
  error: Error | null
  retry: () => void
  /** The shape of the page, without its data. */
  children: ReactNode
}

/** The page of one thing while that is read, or after it could not be read. */
export function UnreadPage({ title, above, error, retry, children }: Props) {
  return (
    <>
      <PageHead title={title} above={above} />
      {error === null ? (
        <div className="body" aria-busy>
          {children}
        </div>
      ) : (
        <Problem error={error} retry={retry} what={`The ${title.toLowerCase()} could not be read`} />
      )}
    </>
  )
}
