import type { IncidentWithTimeline } from '@backstop/client'
import { Group } from '@mantine/core'
import { useChannelNames } from '../../api/channels.ts'
import { ProjectLink } from '../../parts/page/index.ts'
import { Principal, StateBadge, Time } from '../../parts/show/index.ts'
import classes from './incident.module.css'

type Delivery = IncidentWithTimeline['deliveries'][number]
interface Props {
  incident: IncidentWithTimeline
}
/** The newest are shown: a storm has a report for each channel every few minutes. */
const MOST_SHOWN = 8

const EVENTS: Record<string, string> = {
  'incident.opened': 'Opened',
  'incident.acknowledged': 'Acknowledged',
  'incident.resolved': 'Resolved',
  'storm.reported': 'Reported',
}

/** Which channels got messages about the incident, and whether they arrived. */
export function AlertsSent({ incident }: Props) {
  const { deliveries, incident_id } = incident
  if (deliveries.length === 0) return <Nobody incident={incident} />
  return (
    <>
      <SentList {...incident} search={{ incident_id }} />
      <Quiet incident={incident} />
    </>
  )
}

interface ListProps extends Pick<IncidentWithTimeline, 'project_id' | 'deliveries'> {
  /** The filter of the list of all of them. */
  search: Readonly<Record<string, string>>
}

/** The deliveries about an incident or a storm, by channel. */
export function SentList({ project_id, deliveries, search }: ListProps) {
  const names = useChannelNames(project_id)
  if (deliveries.length === 0) return <p className="dim">Nobody yet.</p>
  return (
    <>
      <ul className={classes.sent}>
        {deliveries.slice(-MOST_SHOWN).map(delivery => (
          <li key={delivery.delivery_id}>
            <Group gap={12} justify="space-between" wrap="nowrap">
              <ProjectLink
                className="cut"
                page="channels"
                id={delivery.channel_id}
                title={names.get(delivery.channel_id)}
              >
                <bdi>{names.get(delivery.channel_id) ?? delivery.channel_id}</bdi>
              </ProjectLink>
              <StateBadge state={delivery.state} />
            </Group>
            <DeliveryLine delivery={delivery} />
          </li>
        ))}
      </ul>
      {deliveries.length > MOST_SHOWN && (
        <p className={classes.small}>
          <ProjectLink page="deliveries" search={search}>
            All {deliveries.length} deliveries
          </ProjectLink>
        </p>
      )}
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

function Nobody({ incident }: Props) {
  const isAlone = incident.silence === null && incident.storm_id == null
  return (
    <>
      <p className="dim">{isAlone ? 'Nobody yet.' : 'Nobody got a message about it alone.'}</p>
      <Quiet incident={incident} />
      {isAlone && (
        <p className={classes.small}>
          <ProjectLink page="channels">See which channels get incidents</ProjectLink>
        </p>
      )}
    </>
  )
}

/** Why channels got fewer messages than usual. */
function Quiet({ incident: { silence, storm_id } }: Props) {
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
          <ProjectLink page="storms" id={storm_id}>
            storm
          </ProjectLink>{' '}
          that it belongs to.
        </p>
      )}
    </>
  )
}
