import { ApiProblem, type IncidentWithTimeline } from '@backstop/client'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { useChannelNames } from '../../api/channels.ts'
import { inboxEntryQuery } from '../../api/connections.ts'
import { localizeTimes } from '../../format/times.ts'
import { ProjectLink, Read } from '../../parts/page/index.ts'
import { LongText, Timeline, type TimelineEntry } from '../../parts/show/index.ts'
import { nameEvent } from '../channels/words.ts'

type Entry = IncidentWithTimeline['timeline'][number]

/** Entries whose text has names of the API. */
const SENTENCES: Partial<Record<Entry['what'], string>> = {
  incident_opened: 'Incident opened',
  alert_sent: 'Alert sent to the channels',
}

/** Everything from the event of the provider to each attempt to deliver a message, in the order of time. */
export function IncidentTimeline({ incident }: { incident: IncidentWithTimeline }) {
  const names = useChannelNames(incident.project_id)
  const entries = [
    ...incident.timeline.map((entry, at) => entryOf(incident, entry, at)),
    ...incident.deliveries.flatMap(delivery =>
      attemptsOf(delivery, names.get(delivery.channel_id) ?? delivery.channel_id),
    ),
  ]
  return <Timeline entries={entries.toSorted((a, b) => a.at.localeCompare(b.at))} />
}

function entryOf({ connection_id: connectionId }: IncidentWithTimeline, entry: Entry, place: number): TimelineEntry {
  const { what, id, at } = entry
  const text = SENTENCES[what] ?? localizeTimes(entry.text, at)
  // The text of a change names the person.
  const shared = { key: `${place} ${at}`, at, text }
  if (what === 'event_received' && id !== null && connectionId !== null) {
    return { ...shared, details: <NotificationDocument connectionId={connectionId} eventId={id} /> }
  }
  if (what === 'explained' && id?.startsWith('op_') === true) {
    const link = (
      <ProjectLink page="operations" id={id}>
        Open the operation
      </ProjectLink>
    )
    return { ...shared, text: [text, ' ', <span key="link">{link}</span>] }
  }
  return { ...shared, details: <RawDocument document={entry} /> }
}

function attemptsOf(delivery: IncidentWithTimeline['deliveries'][number], name: string): TimelineEntry[] {
  const { delivery_id, alert_id, event, attempts } = delivery
  return attempts.map(attempt => ({
    key: `${delivery_id} ${attempt.attempt}`,
    at: attempt.at,
    text: (
      <>
        {attempt.outcome === 'delivered' ? 'Delivered to ' : 'Not delivered to '}
        <bdi>{name}</bdi>
        {attempt.outcome === 'failed' && attempt.error !== null && `: ${attempt.error}`}
      </>
    ),
    by: `${nameEvent(event)}${attempt.attempt === 1 ? '' : `, attempt ${attempt.attempt}`}`,
    details: <RawDocument document={{ delivery_id, alert_id, ...attempt }} />,
  }))
}

/** A document as text. It is never interpreted: markup of a provider is shown as it is. */
function RawDocument({ document }: { document: unknown }) {
  return <LongText dir="ltr" text={typeof document === 'string' ? document : JSON.stringify(document, null, 2)} />
}

/** The notification of the provider. It is read when its disclosure opens. */
function NotificationDocument({ connectionId, eventId }: { connectionId: string; eventId: string }) {
  const [isOpen, setIsOpen] = useState(false)
  const marker = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const disclosure = marker.current?.closest('details')
    if (disclosure == null) return
    const toggle = () => setIsOpen(disclosure.open)
    disclosure.addEventListener('toggle', toggle)
    return () => disclosure.removeEventListener('toggle', toggle)
  }, [])
  const query = useQuery({ ...inboxEntryQuery(connectionId, eventId), enabled: isOpen })
  return (
    <div ref={marker}>
      {query.error instanceof ApiProblem && query.error.status === 404 ? (
        <p className="dim">It was found when the account was read, so there is no notification.</p>
      ) : (
        <Read query={query} what="The notification could not be read" loading={<p className="faint">Loading…</p>}>
          {({ body }) =>
            body === null ? (
              <p className="dim">Its text is not kept any more: it is deleted after 14 days.</p>
            ) : (
              <RawDocument document={body} />
            )
          }
        </Read>
      )}
    </div>
  )
}
