import { ApiProblem } from '@backstop/client'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { api } from '../../api/client.ts'
import { LongText } from '../../parts/long-text.tsx'
import { Problem } from '../../parts/problem.tsx'
import classes from './incident.module.css'

/** A document as text. It is never interpreted: markup of a provider is shown as it is. */
export function RawDocument({ document }: { document: unknown }) {
  return (
    <LongText
      className={classes.raw}
      dir="ltr"
      text={typeof document === 'string' ? document : JSON.stringify(document, null, 2)}
    />
  )
}

/** The notification of the provider. It is read when its disclosure opens. */
export function NotificationDocument({ connectionId, eventId }: { connectionId: string; eventId: string }) {
  const [isOpen, setIsOpen] = useState(false)
  const marker = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const disclosure = marker.current?.closest('details')
    if (disclosure == null) return
    const toggle = () => setIsOpen(disclosure.open)
    disclosure.addEventListener('toggle', toggle)
    return () => disclosure.removeEventListener('toggle', toggle)
  }, [])
  const { data, error, refetch } = useQuery({
    queryKey: ['inbox', 'one', connectionId, eventId],
    queryFn: ({ signal }) => api.inbox.getEntry(connectionId, eventId, { signal }),
    enabled: isOpen,
  })
  return (
    <div ref={marker}>
      {error instanceof ApiProblem && error.status === 404 ? (
        <p className="dim">It was found when the account was read, so there is no notification.</p>
      ) : error !== null ? (
        <Problem error={error} retry={() => void refetch()} what="The notification could not be read" />
      ) : data === undefined ? (
        <p className="faint">Loading…</p>
      ) : data.body === null ? (
        <p className="dim">Its text is not kept any more: it is deleted after 14 days.</p>
      ) : (
        <RawDocument document={data.body} />
      )}
    </div>
  )
}
