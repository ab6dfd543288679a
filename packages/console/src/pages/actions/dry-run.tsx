import type { Connection } from '@backstop/client'
import { SegmentedControl, Select, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import * as z from 'zod/mini'
import { connectionQuery, connectionsQuery } from '../../api/connections.ts'
import { type DryRun, dryRunQuery } from '../../api/dry-runs.ts'
import type { ListState } from '../../api/list.ts'
import { Badge } from '../../parts/badges.tsx'
import { timeColumn } from '../../parts/columns.tsx'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { Money } from '../../parts/money.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Problem } from '../../parts/problem.tsx'
import { useFilters } from '../../parts/use-filters.ts'
import { useProjectId } from '../../parts/use-route.ts'
import { useSession } from '../../session/session.ts'
import { OutOfBandChoice } from '../connections/out-of-band-choice.tsx'
import { MODES, type Mode } from '../connections/words.ts'
import { connectionOptions } from './connection-options.ts'
import classes from './dry-run.module.css'

const DAY_MS = 86_400_000
const FILTERS = {
  connection_id: z.string(),
  out_of_band: z.enum(MODES.map(({ value }) => value)),
  days: z.enum(['1', '7', '30']),
}
const PERIODS = [
  { value: '1', label: 'Last day' },
  { value: '7', label: 'Last week' },
  { value: '30', label: 'Last 30 days' },
]
const labelOf = (mode: Mode) => MODES.find(({ value }) => value === mode)?.label ?? mode
/** Without a chosen setting, the one that changes most. */
const otherThan = (mode: Mode): Mode => (mode === 'alert' ? 'ignore' : 'alert')

/** What would have alerted by another setting of a connection, side by side with what alerted. */
export function Page() {
  const project_id = useProjectId()
  const [filters, setFilters] = useFilters(FILTERS)
  const connections = useQuery(connectionsQuery(project_id))
  const id = filters.connection_id ?? connections.data?.[0]?.connection_id
  const chosen = useQuery({ ...connectionQuery(project_id, id ?? ''), enabled: id !== undefined })
  const connection = chosen.data
  const failed = id === undefined ? connections : chosen
  const days = filters.days ?? '7'
  const tried = filters.out_of_band ?? (connection === undefined ? 'alert' : otherThan(connection.out_of_band))
  return (
    <>
      <PageHead title="What would have alerted by another setting">
        <p className="dim">Nothing is changed and nobody is alerted.</p>
      </PageHead>
      {failed.error !== null && failed.data === undefined && (
        <Problem
          error={failed.error}
          retry={() => void failed.refetch()}
          what={id === undefined ? 'The connections could not be read' : 'The connection could not be read'}
        />
      )}
      <div className={classes.body}>
        {(connections.isLoading || chosen.isLoading) && connection === undefined && <Skeleton height={160} />}
        {id === undefined && connections.data !== undefined && (
          <p className="dim">
            No billing account is connected, so there is nothing to judge.{' '}
            <Link to="/p/$project/connections" params={{ project: project_id }}>
              See the connections
            </Link>
          </p>
        )}
        {connection !== undefined && (
          <>
            <div className={classes.line}>
              <Select
                label="Connection"
                data={connectionOptions(connections.data ?? [], { id, name: connection.name })}
                value={connection.connection_id}
                onChange={chosenId => setFilters({ connection_id: chosenId ?? undefined })}
              />
              <Select
                label="Period"
                data={PERIODS}
                value={days}
                onChange={chosen => setFilters({ days: (chosen ?? '7') as '7' })}
              />
            </div>
            <div>
              <div className="dim">Setting to try (out_of_band)</div>
              <SegmentedControl
                aria-label="Setting to try"
                size="sm"
                data={MODES.map(({ value, label }) => ({ value, label }))}
                value={tried}
                onChange={mode => setFilters({ out_of_band: mode as Mode })}
              />
              <p className="dim">{MODES.find(({ value }) => value === tried)?.meaning}</p>
            </div>
          </>
        )}
      </div>
      {connection !== undefined && <Result connection={connection} tried={tried} days={Number(days)} />}
    </>
  )
}

type Row = DryRun['actions'][number]

interface Chosen {
  connection: Connection
  tried: Mode
  days: number
}

function Result({ connection, tried, days }: Chosen) {
  const from = useMemo(() => new Date(Math.floor(Date.now() / 60_000) * 60_000 - days * DAY_MS).toISOString(), [days])
  const { data, error, isPending, refetch } = useQuery(dryRunQuery(connection, tried, from))
  const list: ListState<Row> = {
    items: data?.actions ?? [],
    isLoading: isPending,
    error: data === undefined ? error : null,
    hasMore: false,
    isLoadingMore: false,
    moreError: null,
    arrivals: [],
    idOf: ({ action_id }) => action_id,
    loadMore: () => {},
    retry: () => void refetch(),
    showArrivals: () => {},
  }
  return (
    <>
      {data !== undefined && <Totals dryRun={data} connection={connection} />}
      <DataList
        label="Refunds and cancellations that nothing explained"
        list={list}
        columns={columnsFor(data?.out_of_band ?? tried)}
        hrefOf={({ action_id }) => `/p/${connection.project_id}/actions/${action_id}`}
        empty={
          <p>
            Every refund and cancellation of this period was explained within a minute, so no setting would have
            alerted.
          </p>
        }
      />
    </>
  )
}

function Totals({ dryRun, connection }: { dryRun: DryRun; connection: Connection }) {
  const { may } = useSession()
  const { alerted, would_alert, out_of_band, unexplained, actions, is_complete } = dryRun
  return (
    <div className={classes.body}>
      <section aria-live="polite">
        <div className={classes.compared}>
          <Side title="What alerted" alerts={alerted} />
          <Side title={`With ${labelOf(out_of_band)}`} alerts={would_alert} />
        </div>
        {!is_complete && (
          <p className="dim">There are too many to count, so these numbers are too low. Choose a shorter period.</p>
        )}
        {actions.length < unexplained && (
          <p className="dim">
            The newest {actions.length} of {unexplained.toLocaleString()} are listed.
          </p>
        )}
        <p className="dim">
          Everything else is as it was a minute after the refund or cancellation was seen. Silences and quiet hours are
          left out: they hide alerts, they change no verdict.
        </p>
      </section>
      {may('manage', connection.project_id) && connection.status !== 'deleted' && (
        <div>
          <div className="dim">Setting of this connection (saved at once)</div>
          <OutOfBandChoice connection={connection} mayChange />
        </div>
      )}
    </div>
  )
}

function Side({ title, alerts: { count, sums } }: { title: string; alerts: DryRun['alerted'] }) {
  return (
    <div className={classes.side}>
      <span className="dim">{title}</span>
      <strong>{count === 1 ? '1 alert' : `${count.toLocaleString()} alerts`}</strong>
      {sums.map(({ currency, amount }) => (
        <span key={currency}>
          <Money amount={amount} currency={currency} />
        </span>
      ))}
    </div>
  )
}

const THEN = { yes: 'Alerted', no: 'Did not alert' }
const TRIED = { yes: 'Alerts', no: 'Does not alert' }

function Outcome({ alerts, words }: { alerts: boolean; words: { yes: string; no: string } }) {
  return alerts ? <Badge tone="alarm">{words.yes}</Badge> : <Badge tone="quiet">{words.no}</Badge>
}

function columnsFor(tried: Mode): readonly Column<Row>[] {
  return [
    {
      title: 'What',
      width: 'minmax(0, 1fr)',
      card: 'title',
      cell: ({ kind, subject }) => (
        <span dir="auto">
          {kind === 'refund' ? 'Refund' : 'Cancellation'} of <span className="mono">{subject}</span>
        </span>
      ),
    },
    {
      title: 'Amount',
      width: '130px',
      align: 'end',
      card: 'end',
      cell: ({ amount, currency }) => <Money amount={amount} currency={currency} />,
    },
    { title: 'Then', width: '150px', card: 'line', cell: ({ alerted }) => <Outcome alerts={alerted} words={THEN} /> },
    {
      title: `With ${labelOf(tried)}`,
      width: '150px',
      card: 'line',
      cell: ({ would_alert }) => (
        <span className={classes.tried}>
          <span className="faint" aria-hidden>
            →
          </span>
          <Outcome alerts={would_alert} words={TRIED} />
        </span>
      ),
    },
    timeColumn('First seen', '120px', ({ first_seen_at }) => first_seen_at, { isOnCard: false }),
  ]
}
