import type { Connection } from '@backstop/client'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { eventsByOutcomeQuery, type InboxEntry, latestEventsQuery, type Outcome } from '../../api/inbox.ts'
import { incidentList } from '../../api/incidents.ts'
import { useList } from '../../api/list.ts'
import { formatDuration } from '../../format/times.ts'
import { Badge } from '../../parts/badges.tsx'
import { CopyId } from '../../parts/copy-id.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Time, useNow } from '../../parts/time.tsx'
import { useSession } from '../../session/session.ts'
import classes from './connections.module.css'
import { CopyBox } from './copy-box.tsx'
import { feedRate } from './feed-rate.ts'
import { OutOfBandChoice } from './out-of-band-choice.tsx'
import { Silence } from './silence.tsx'
import { MODES, OUTCOMES, readingText } from './words.ts'

/** Whether the connection works: its setting, its feed, whether its provider can be read, and what was refused. */
export function Health({ connection }: { connection: Connection }) {
  const { may } = useSession()
  const { project_id, connection_id, out_of_band } = connection
  const mode = MODES.find(({ value }) => value === out_of_band)
  return (
    <div className={classes.body}>
      <section>
        <h2>When it alerts (out_of_band)</h2>
        <OutOfBandChoice connection={connection} mayChange={may('manage', project_id)} />
        <p className="dim">{mode?.meaning}</p>
        <p>
          <Link to="/p/$project/dry-run" params={{ project: project_id }} search={{ connection_id } as never}>
            See what would have alerted last week by another setting
          </Link>
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
            ['Id', <CopyId key="id" id={connection_id} length={32} />],
            ['Site', connection.site],
            ['Connected', <Time key="at" at={connection.created_at} />],
          ]}
        />
        <p className="dim">URL for notifications of the provider</p>
        <CopyBox text={connection.inbound_url} label="the URL for notifications" />
      </section>
    </div>
  )
}

/** Open incidents about the connection itself, for example that its feed is silent. */
function OpenProblems({ connection: { project_id, connection_id } }: { connection: Connection }) {
  const { items } = useList(incidentList, { project_id, connection_id, state: 'open' })
  const own = items.filter(({ code }) => code === 'FEED_SILENT' || code === 'VERIFICATION_UNAVAILABLE')
  if (own.length === 0) return null
  return (
    <section>
      <h2>Needs you</h2>
      <ul className={classes.lines}>
        {own.map(({ incident_id, summary, opened_at }) => (
          <li key={incident_id}>
            <Link className="link" to="/p/$project/incidents/$id" params={{ project: project_id, id: incident_id }}>
              {summary}
            </Link>
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

function Feed({ connection: { connection_id } }: { connection: Connection }) {
  const now = useNow()
  const { data, error, refetch } = useQuery({ ...latestEventsQuery(connection_id), refetchInterval: LIVE_MS })
  if (error !== null && data === undefined) {
    return <Problem error={error} retry={() => void refetch()} what="The events could not be read" />
  }
  const events = data?.events ?? []
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
          ['Last event', last === undefined ? 'None yet' : <Time key="last" at={last.received_at} />],
          [
            'Rate',
            rate === null ? null : (
              <>
                {events.length} {events.length === 1 ? 'event' : 'events'}
                {data?.hasMore === true ? ' (the newest)' : ''} in {formatDuration(rate.spanMs)}
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
function Refusals({ connection, outcome }: { connection: Connection; outcome: Extract<Outcome, 'parked' | 'held'> }) {
  const { project_id, connection_id } = connection
  const { data } = useQuery({ ...eventsByOutcomeQuery(connection_id, outcome), refetchInterval: LIVE_MS })
  if (data === undefined || data.data.length === 0) return null
  const { label, remedy } = OUTCOMES[outcome]
  return (
    <section>
      <h2>{label} events</h2>
      <p className="dim">{remedy}</p>
      <ul className={classes.lines}>
        {byReason(data.data).map(({ reason, count, last }) => (
          <li key={reason}>
            <span dir="auto">{reason}</span>
            <span className="dim">
              {count}
              {data.next_cursor === null ? '' : ' of the newest 200'}, last <Time at={last} />
            </span>
          </li>
        ))}
      </ul>
      <p>
        <Link
          to="/p/$project/connections/$id"
          params={{ project: project_id, id: connection_id }}
          search={{ tab: 'inbox', outcome } as never}
        >
          Show these events
        </Link>
      </p>
    </section>
  )
}

function byReason(entries: readonly InboxEntry[]): { reason: string; count: number; last: string }[] {
  const groups = Map.groupBy(entries, ({ reason }) => reason)
  return [...groups]
    .map(([reason, group]) => ({ reason, count: group.length, last: group[0]?.received_at ?? '' }))
    .sort((a, b) => b.count - a.count)
}

export function Reading({ connection }: { connection: Connection }) {
  const { reading } = connection
  return (
    <section>
      <h2>Reading the provider</h2>
      <div>
        {reading.state === 'failing' ? (
          <Badge tone="alarm">{readingText(connection)}</Badge>
        ) : reading.state === 'healthy' ? (
          <Badge tone="good">{readingText(connection)}</Badge>
        ) : (
          <span className="dim">{readingText(connection)}</span>
        )}
      </div>
      <Facts
        facts={[
          ['Why', reading.error],
          ['Failing since', reading.failing_since === null ? null : <Time key="since" at={reading.failing_since} />],
          ['Last read', reading.last_run_at === null ? null : <Time key="last" at={reading.last_run_at} />],
          ['Next read', reading.next_run_at === null ? null : <Time key="next" at={reading.next_run_at} />],
        ]}
      />
    </section>
  )
}
