import type { IncidentWithTimeline } from '@backstop/client'
import { Link } from '@tanstack/react-router'
import { Timeline, type TimelineEntry } from '../../parts/timeline.tsx'
import { useChannelNames } from './alerts-sent.tsx'
import { NotificationDocument, RawDocument } from './raw-document.tsx'

type Entry = IncidentWithTimeline['timeline'][number]

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

function entryOf(incident: IncidentWithTimeline, entry: Entry, at: number): TimelineEntry {
  const { connection_id: connectionId, project_id: project } = incident
  const shared = {
    key: `${at} ${entry.at}`,
    at: entry.at,
    // The text of a change names the person.
    text: entry.text,
  }
  const { what, id } = entry
  if (what === 'event_received' && id !== null && connectionId !== null) {
    return { ...shared, details: <NotificationDocument connectionId={connectionId} eventId={id} /> }
  }
  if (what === 'explained' && id?.startsWith('op_') === true) {
    const link = (
      <Link className="link" to="/p/$project/operations/$id" params={{ project, id }}>
        Open the operation
      </Link>
    )
    return { ...shared, text: [entry.text, ' ', <span key="link">{link}</span>] }
  }
  return { ...shared, details: <RawDocument document={entry} /> }
}

function attemptsOf(delivery: IncidentWithTimeline['deliveries'][number], name: string): TimelineEntry[] {
  return delivery.attempts.map(attempt => ({
    key: `${delivery.delivery_id} ${attempt.attempt}`,
    at: attempt.at,
    text: (
      <>
        {attempt.outcome === 'delivered' ? 'Delivered to ' : 'Not delivered to '}
        <bdi>{name}</bdi>
        {attempt.outcome === 'failed' && attempt.error !== null && `: ${attempt.error}`}
      </>
    ),
    by: `${delivery.event}, attempt ${attempt.attempt}, ${Math.round(attempt.duration_ms)} ms`,
    details: <RawDocument document={{ delivery_id: delivery.delivery_id, alert_id: delivery.alert_id, ...attempt }} />,
  }))
}
