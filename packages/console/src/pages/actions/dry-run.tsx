import type { Connection } from '@backstop/client'
import { Group, SegmentedControl, Select, Skeleton, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import * as z from 'zod/mini'
import { type DryRun, dryRunQuery } from '../../api/actions.ts'
import { connectionQuery, connectionsQuery } from '../../api/connections.ts'
import { wholeList } from '../../api/list.ts'
import { useFilters } from '../../parts/filters/index.ts'
import { type Column, DataList, moneyColumn, timeColumn } from '../../parts/list/index.ts'
import { PageHead, Problem, ProjectLink, useProjectId } from '../../parts/page/index.ts'
import { Badge, Money } from '../../parts/show/index.ts'
import { useSession } from '../../session/session.ts'
import { OutOfBandChoice } from '../connections/out-of-band-choice.tsx'
import { labelOfMode, MODES, type Mode, REPEAT_HOURS } from '../connections/words.ts'
import { connectionOptions } from './connection-options.ts'
import classes from './dry-run.module.css'

const DAY_MS = 86_400_000
const FILTERS = {
  connection_id: z.string(),
  out_of_band: z.enum(MODES.map(({ value }) => value)),
  days: z.enum(['1', '7', '30']),
  within_hours: z.enum(['1', '24', '168', '720']),
}
const PERIODS = [
  { value: '1', label: 'Last day' },
  { value: '7', label: 'Last week' },
  { value: '30', label: 'Last 30 days' },
]
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
      <PageHead title="What would have alerted by another setting" about="Nothing is changed and nobody is alerted." />
      {failed.error !== null && failed.data === undefined && (
        <Problem
          error={failed.error}
          retry={() => void failed.refetch()}
          what={`The ${id === undefined ? 'connections' : 'connection'} could not be read`}
        />
      )}
      <Stack className="body" gap="lg">
        {(connections.isLoading || chosen.isLoading) && connection === undefined && <Skeleton height={160} />}
        {id === undefined && connections.data !== undefined && (
          <p className="dim">
            No billing account is connected, so there is nothing to judge.{' '}
            <ProjectLink page="connections">See the connections</ProjectLink>
          </p>
        )}
        {connection !== undefined && (
          <>
            <Group gap="sm" align="end">
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
              <Select
                label="Second refunds of the same amount"
                data={[{ value: '', label: 'As it is set' }, ...REPEAT_HOURS.slice(1)]}
                value={filters.within_hours ?? ''}
                onChange={hours => setFilters({ within_hours: (hours || undefined) as '24' | undefined })}
              />
            </Group>
            <div>
              <div className="dim" title="out_of_band">
                Setting to try
              </div>
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
      </Stack>
      {connection !== undefined && (
        <Result connection={connection} tried={tried} days={Number(days)} withinHours={filters.within_hours} />
      )}
    </>
  )
}

type Row = DryRun['actions'][number]

interface Chosen {
  connection: Connection
  tried: Mode
  days: number
  withinHours: string | undefined
}

function Result({ connection, tried, days, withinHours }: Chosen) {
  const from = useMemo(() => new Date(Math.floor(Date.now() / 60_000) * 60_000 - days * DAY_MS).toISOString(), [days])
  const hours = withinHours === undefined ? {} : { refunded_twice_within_hours: Number(withinHours) }
  const { data, error, isPending, refetch } = useQuery(dryRunQuery(connection, { out_of_band: tried, from, ...hours }))
  const list = {
    ...wholeList<Row>(data?.actions, ({ action_id }) => action_id),
    isLoading: isPending,
    error: data === undefined ? error : null,
    retry: () => void refetch(),
  }
  return (
    <>
      {data !== undefined && <Totals dryRun={data} connection={connection} />}
      {data?.refunded_twice != null && <Repeats repeats={data.refunded_twice} />}
      <DataList
        label="Refunds and cancellations that nothing explained"
        list={list}
        columns={columnsFor(data?.out_of_band ?? tried)}
        hrefOf={({ action_id }) => `/p/${connection.project_id}/actions/${action_id}`}
        empty="Every refund and cancellation of this period was explained within a minute, so no setting would have alerted."
      />
    </>
  )
}

function Totals({ dryRun, connection }: { dryRun: DryRun; connection: Connection }) {
  const { may } = useSession()
  const { alerted, would_alert, out_of_band, unexplained, actions, is_complete } = dryRun
  return (
    <Stack className="body" gap="lg">
      <Stack component="section" gap={12} miw={0} aria-live="polite">
        <div className={classes.compared}>
          <Side title="What alerted" alerts={alerted} />
          <Side title={`With “${labelOfMode(out_of_band)}”`} alerts={would_alert} />
        </div>
        {!is_complete && (
          <p className="dim">There are too many to count, so these numbers are too low. Choose a shorter period.</p>
        )}
        {actions.length < unexplained && (
          <p className="dim">
            The newest {actions.length} of {unexplained.toLocaleString('en')} are listed.
          </p>
        )}
        <p className="dim">
          Everything else is as it was a minute after the refund or cancellation was seen. Silences and quiet hours are
          left out: they hide alerts, they change no verdict.
        </p>
      </Stack>
      {may('manage', connection.project_id) && connection.status !== 'deleted' && (
        <div>
          <div className="dim">Setting of this connection (saved at once)</div>
          <OutOfBandChoice connection={connection} mayChange />
        </div>
      )}
    </Stack>
  )
}

function Side({ title, alerts: { count, sums } }: { title: string; alerts: DryRun['alerted'] }) {
  return (
    <div className={classes.side}>
      <span className="dim">{title}</span>
      <strong>{count === 1 ? '1 alert' : `${count.toLocaleString('en')} alerts`}</strong>
      {sums.map(({ currency, amount }) => (
        <span key={currency}>
          <Money amount={amount} currency={currency} />
        </span>
      ))}
    </div>
  )
}

/** The second refunds that the rule would have reported, each with the refund that it repeats. */
function Repeats({ repeats }: { repeats: NonNullable<DryRun['refunded_twice']> }) {
  const { within_hours, would_alert, refunds } = repeats
  return (
    <Stack component="section" className="body" gap={12} miw={0}>
      <div className={classes.compared}>
        <Side title={`Second refunds within ${within_hours} hours`} alerts={would_alert} />
      </div>
      <ul className="lines">
        {refunds.map(({ action_id, subject, amount, currency, earlier }) => (
          <li key={action_id}>
            <ProjectLink page="actions" id={action_id}>
              <Money amount={amount} currency={currency} /> of <bdi className="mono">{subject}</bdi>
            </ProjectLink>{' '}
            <span className="dim">
              repeats{' '}
              <ProjectLink page="actions" id={earlier.action_id}>
                <bdi className="mono">{earlier.provider_ref}</bdi>
              </ProjectLink>
            </span>
          </li>
        ))}
      </ul>
    </Stack>
  )
}

function Outcome({ alerts, yes, no }: { alerts: boolean; yes: string; no: string }) {
  return alerts ? <Badge tone="alarm">{yes}</Badge> : <Badge tone="quiet">{no}</Badge>
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
    moneyColumn('130px', row => row, 'end'),
    {
      title: 'Then',
      width: '150px',
      card: 'line',
      cell: ({ alerted }) => <Outcome alerts={alerted} yes="Alerted" no="Did not alert" />,
    },
    {
      title: `With ${labelOfMode(tried)}`,
      width: '150px',
      card: 'line',
      cell: ({ would_alert }) => (
        <span className={classes.tried}>
          <span className="faint" aria-hidden>
            →
          </span>
          <Outcome alerts={would_alert} yes="Alerts" no="Does not alert" />
        </span>
      ),
    },
    timeColumn('First seen', '120px', ({ first_seen_at }) => first_seen_at, { isOnCard: false }),
  ]
}
