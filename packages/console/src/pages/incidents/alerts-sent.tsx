import type { IncidentWithTimeline } from '@backstop/client'
import { Link } from '@tanstack/react-router'
import { useAllChannels } from '../../api/channels.ts'
import { StateBadge } from '../../parts/badges.tsx'
import { Principal } from '../../parts/name-of.tsx'
import { Time } from '../../parts/time.tsx'
import classes from './incident.module.css'

type Delivery = IncidentWithTimeline['deliveries'][number]

const EVENTS: Record<string, string> = {
  'incident.opened': 'Opened',
  'incident.acknowledged': 'Acknowledged',
  'incident.resolved': 'Resolved',
}

/** The names of the project's channels by their id. */
export function useChannelNames(project_id: string): ReadonlyMap<string, string> {
  const channels = useAllChannels(project_id)
  return new Map(channels.map(({ channel_id, name }) => [channel_id, name]))
}

/** Which channels got messages about the incident, and whether they arrived. */
export function AlertsSent({ incident }: { incident: IncidentWithTimeline }) {
  const { project_id, deliveries } = incident
  const names = useChannelNames(project_id)
  if (deliveries.length === 0) return <Nobody incident={incident} />
  return (
    <>
      <ul className={classes.sent}>
        {deliveries.map(delivery => (
          <li key={delivery.delivery_id} className={classes.channel}>
            <div className={classes.sentLine}>
              <Link
                className={classes.sentName}
                to="/p/$project/channels/$id"
                params={{ project: project_id, id: delivery.channel_id }}
                title={names.get(delivery.channel_id)}
              >
                <bdi>{names.get(delivery.channel_id) ?? delivery.channel_id}</bdi>
              </Link>
              <StateBadge state={delivery.state} />
            </div>
            <DeliveryLine delivery={delivery} />
          </li>
        ))}
      </ul>
      <Quiet incident={incident} />
    </>
  )
}

function DeliveryLine({ delivery: { event, state, reason, attempts } }: { delivery: Delivery }) {
  const last = attempts.at(-1)
  const count = attempts.length === 1 ? '' : `, ${attempts.length} attempts`
  return (
    <p className={`dim ${classes.small}`} dir="auto">
      {EVENTS[event] ?? event}
      {last !== undefined && (
        <>
          , <Time at={last.at} />
        </>
      )}
      {count}
      {state !== 'delivered' && `: ${last?.error ?? reason}`}
    </p>
  )
}

function Nobody({ incident }: { incident: IncidentWithTimeline }) {
  const { project_id, silence, storm_id } = incident
  return (
    <>
      <p className="dim">
        {silence === null && storm_id == null ? 'Nobody yet.' : 'Nobody got a message about it alone.'}
      </p>
      <Quiet incident={incident} />
      {silence === null && storm_id == null && (
        <p className={classes.small}>
          <Link to="/p/$project/channels" params={{ project: project_id }}>
            See which channels get incidents
          </Link>
        </p>
      )}
    </>
  )
}

/** Why channels got fewer messages than usual. */
function Quiet({ incident: { project_id, silence, storm_id } }: { incident: IncidentWithTimeline }) {
  return (
    <>
      {silence !== null && (
        <p className={`dim ${classes.small}`} dir="auto">
          A silence of <Principal id={silence.created_by} /> stopped its messages until <Time at={silence.ends_at} />:{' '}
          {silence.reason}
        </p>
      )}
      {storm_id != null && (
        <p className={`dim ${classes.small}`}>
          People get reports about the{' '}
          <Link to="/p/$project/storms/$id" params={{ project: project_id, id: storm_id }}>
            storm
          </Link>{' '}
          that it belongs to.
        </p>
      )}
    </>
  )
}
