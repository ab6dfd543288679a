import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { inboxEntryQuery } from '../../api/connections.ts'
import { shortenId } from '../../format/ids.ts'
import { Read } from '../../parts/page/index.ts'
import { CopyId, LongText, Time } from '../../parts/show/index.ts'

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
  return (
    <Read
      query={useQuery(inboxEntryQuery(connectionId, eventId))}
      what="The event could not be read"
      loading={<Skeleton height={120} mt="sm" />}
    >
      {({ event_type, received_at, body }) => (
        <>
          <p className="dim">
            {event_type} <CopyId id={eventId} length={28} />, received <Time at={received_at} />
          </p>
          {body === null ? (
            <p className="dim">The body was deleted after its retention of 14 days.</p>
          ) : (
            <LongText text={textOf(body)} />
          )}
        </>
      )}
    </Read>
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
