import type { Connection } from '@backstop/client'
import { useQuery } from '@tanstack/react-query'
import { type InboxEntry, latestEventsQuery } from '../../api/connections.ts'
import { incidentList } from '../../api/incidents.ts'
import { useList } from '../../api/list.ts'
import { formatDuration } from '../../format/times.ts'
import { Problem, ProjectLink } from '../../parts/page/index.ts'
import { Badge, CopyBox, Facts, idFact, Time, timeFact, useNow } from '../../parts/show/index.ts'
import { useSession } from '../../session/session.ts'
import { AccountSettings } from './account-settings.tsx'
import { BurstAlarmChoice } from './burst-alarm-choice.tsx'
import classes from './connections.module.css'
import { feedRate } from './feed-rate.ts'
import { OutOfBandChoice } from './out-of-band-choice.tsx'
import { RefundedTwiceChoice } from './refunded-twice-choice.tsx'
import { Silence } from './silence.tsx'
import { MODES, OUTCOMES, readingText } from './words.ts'

interface Props {
  connection: Connection
}

/** Whether the connection works: its setting, its feed, whether its provider can be read, and what was refused. */
export function Health({ connection }: Props) {
  const { may } = useSession()
  const { project_id, connection_id, out_of_band } = connection
  return (
    <div className={classes.body}>
      <section>
        <h2 title="out_of_band">When it alerts</h2>
        <OutOfBandChoice connection={connection} mayChange={may('manage', project_id)} />
        <p className="dim">{MODES.find(({ value }) => value === out_of_band)?.meaning}</p>
        <p>
          <ProjectLink page="dry-run" search={{ connection_id }}>
            See what would have alerted last week by another setting
          </ProjectLink>
        </p>
      </section>
      {connection.kind === 'processor' && (
        <section>
          <h2>Connected accounts</h2>
          <p className="dim">
            A platform gets the events of many accounts. Set one apart, for example an account whose owner refunds by
            hand.
          </p>
          <AccountSettings connection={connection} mayChange={may('manage', project_id)} />
        </section>
      )}
      <section>
        <h2 title="refunded_twice_within_hours">Second refunds</h2>
        <RefundedTwiceChoice connection={connection} mayChange={may('manage', project_id)} />
        <p className="dim">
          Alerts if your software refunds the same amount of a payment twice within this time, by two operations. Off by
          default: equal partial refunds may be meant, for example for two returned items.
        </p>
        <p>
          <ProjectLink page="dry-run" search={{ connection_id, out_of_band, days: '30', within_hours: '24' }}>
            See what this would have found in the last 30 days
          </ProjectLink>
        </p>
      </section>
      <section>
        <h2 title="burst_alarm">Bursts</h2>
        <BurstAlarmChoice connection={connection} mayChange={may('manage', project_id)} />
        <p className="dim">
          Alerts within seconds if unusually many refunds or cancellations are unexplained so far, before their second
          looks. What is usual is learned for each connection.
        </p>
      </section>
      <OpenProblems connection={connection} />
      <Feed connection={connection} />
      <Refusals connection={connection} outcome="parked" />
      <Refusals connection={connection} outcome="held" />
      <Reading connection={connection} />
      <Silence connection={connection} />
      <section>
        <h2>Identity</h2>
        <Facts
          facts={[
            ['Id', idFact(connection_id)],
            ['Site', connection.site],
            ['Connected', timeFact(connection.created_at)],
          ]}
        />
        <p className="dim">URL for notifications of the provider</p>
        <CopyBox text={connection.inbound_url} label="the URL for notifications" />
      </section>
    </div>
  )
}

/** Open incidents about the connection itself, for example that its feed is silent. */
function OpenProblems({ connection: { project_id, connection_id } }: Props) {
  const { items } = useList(incidentList, { project_id, connection_id, state: 'open' })
  const own = items.filter(({ code }) => code === 'FEED_SILENT' || code === 'VERIFICATION_UNAVAILABLE')
  if (own.length === 0) return null
  return (
    <section>
      <h2>Needs you</h2>
      <ul className={`lines ${classes.lines}`}>
        {own.map(({ incident_id, summary, opened_at }) => (
          <li key={incident_id}>
            <ProjectLink page="incidents" id={incident_id}>
              {summary}
            </ProjectLink>
            <span className="dim">
              Since <Time at={opened_at} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

const LIVE_MS = 15_000

function Feed({ connection: { connection_id } }: Props) {
  const now = useNow()
  const { data, error, refetch } = useQuery({ ...latestEventsQuery(connection_id), refetchInterval: LIVE_MS })
  if (error !== null && data === undefined) {
    return <Problem error={error} retry={() => void refetch()} what="The events could not be read" />
  }
  const events = data?.data ?? []
  const last = events[0]
  const rate = feedRate(
    events.map(({ received_at }) => Date.parse(received_at)),
    Math.max(now, Date.parse(last?.received_at ?? '') || 0),
  )
  return (
    <section aria-busy={data === undefined}>
      <h2>Feed</h2>
      <Facts
        facts={[
          ['Last event', timeFact(last?.received_at) ?? 'None yet'],
          [
            'Rate',
            rate === null ? null : (
              <>
                {events.length} {events.length === 1 ? 'event' : 'events'}
                {data?.next_cursor === null ? '' : ' (the newest)'} in {formatDuration(rate.spanMs)}
                <Sparkline counts={rate.counts} />
              </>
            ),
          ],
        ]}
      />
    </section>
  )
}

/** Bars of equal time, oldest first. Its numbers are in the text beside it. */
function Sparkline({ counts }: { counts: readonly number[] }) {
  const most = Math.max(1, ...counts)
  return (
    <svg className={classes.spark} viewBox={`0 0 ${counts.length * 8} 32`} preserveAspectRatio="none" aria-hidden>
      {counts.map((count, at) => {
        const height = count === 0 ? 1 : Math.max(3, (count / most) * 32)
        // biome-ignore lint/suspicious/noArrayIndexKey: a bar is its place in time
        return <rect key={at} x={at * 8} y={32 - height} width={6} height={height} />
      })}
    </svg>
  )
}

/** Events that had no effect, by reason, with what to do. Absent when there are none. */
function Refusals({ connection: { connection_id }, outcome }: Props & { outcome: 'parked' | 'held' }) {
  const { data } = useQuery({ ...latestEventsQuery(connection_id, outcome), refetchInterval: LIVE_MS })
  if (data === undefined || data.data.length === 0) return null
  const { label, remedy } = OUTCOMES[outcome]
  return (
    <section>
      <h2>{label} events</h2>
      <p className="dim">{remedy}</p>
      <ul className={`lines ${classes.lines}`}>
        {byReason(data.data).map(([reason, group]) => (
          <li key={reason}>
            <span dir="auto">{reason}</span>
            <span className="dim">
              {group.length}
              {data.next_cursor === null ? '' : ' of the newest 200'}, last <Time at={group[0]?.received_at} />
            </span>
          </li>
        ))}
      </ul>
      <p>
        <ProjectLink page="connections" id={connection_id} search={{ tab: 'inbox', outcome }}>
          Show these events
        </ProjectLink>
      </p>
    </section>
  )
}

/** The events of each reason, the most frequent reason first. */
function byReason(entries: readonly InboxEntry[]): [string, InboxEntry[]][] {
  return [...Map.groupBy(entries, ({ reason }) => reason)].sort(([, a], [, b]) => b.length - a.length)
}

export function Reading({ connection }: Props) {
  const { reading } = connection
  const text = readingText(connection)
  return (
    <section>
      <h2>Reading the provider</h2>
      <div>
        {reading.state === 'failing' || reading.state === 'healthy' ? (
          <Badge tone={reading.state === 'failing' ? 'alarm' : 'good'}>{text}</Badge>
        ) : (
          <span className="dim">{text}</span>
        )}
      </div>
      <Facts
        facts={[
          ['Why', reading.error],
          ['Failing since', timeFact(reading.failing_since)],
          ['Last read', timeFact(reading.last_run_at)],
          ['Next read', timeFact(reading.next_run_at)],
        ]}
      />
      <p>
        <ProjectLink page="completeness" search={{ connection_id: connection.connection_id }}>
          Was every refund and cancellation read and judged?
        </ProjectLink>
      </p>
    </section>
  )
}
