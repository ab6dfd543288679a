import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { shortenId } from '../../format/ids.ts'
import { CopyId } from '../../parts/copy-id.tsx'
import { LongText } from '../../parts/long-text.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Time } from '../../parts/time.tsx'
import classes from './action.module.css'

interface Event {
  connectionId: string
  eventId: string
}

/** An event of the provider, whose body is read when it is opened. */
export function RawEvent({ connectionId, eventId }: Event) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <li>
      <details onToggle={event => setIsOpen(event.currentTarget.open)}>
        <summary className="mono dim" title={eventId}>
          {shortenId(eventId, 28)}
        </summary>
        {isOpen && <Body connectionId={connectionId} eventId={eventId} />}
      </details>
    </li>
  )
}

function Body({ connectionId, eventId }: Event) {
  const { data, error, refetch } = useQuery({
    queryKey: ['inbox', 'one', connectionId, eventId],
    queryFn: ({ signal }) => api.inbox.getEntry(connectionId, eventId, { signal }),
  })
  if (error !== null) return <Problem error={error} retry={() => void refetch()} what="The event could not be read" />
  if (data === undefined) return <Skeleton height={120} mt="sm" />
  return (
    <>
      <p className="dim">
        {data.event_type} <CopyId id={eventId} length={28} />, received <Time at={data.received_at} />
      </p>
      {data.body === null ? (
        <p className="dim">The body was deleted after its retention of 14 days.</p>
      ) : (
        <LongText className={`mono ${classes.raw}`} text={textOf(data.body)} />
      )}
    </>
  )
}

function textOf(body: unknown): string {
  if (typeof body !== 'string') return JSON.stringify(body, null, 2)
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}
