import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { connectionQuery } from '../../api/connections.ts'
import type { ListState } from '../../api/list.ts'
import { type Storm, type StormWithSteps, stormQuery } from '../../api/storms.ts'
import { StateBadge } from '../../parts/badges.tsx'
import { timeColumn } from '../../parts/columns.tsx'
import { CopyId } from '../../parts/copy-id.tsx'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Money } from '../../parts/money.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Time } from '../../parts/time.tsx'
import { useLiveRefresh } from '../../parts/use-live-refresh.ts'
import { useProjectId, useResourceId } from '../../parts/use-route.ts'
import { useSession } from '../../session/session.ts'
import { NextSteps } from '../incidents/next-steps.tsx'
import { originSentence } from '../incidents/words.ts'
import { MinuteChart } from './minute-chart.tsx'
import classes from './storm.module.css'
import { StormButtons, StormDialogs, useStormControls } from './storm-controls.tsx'
import { countOf, moneyText } from './storm-list.tsx'
import { MAX_MEMBERS, type Member, membersQuery } from './storm-members.ts'
import { barsOf, type Common, commonOf, sumsOf } from './storm-summary.ts'

const LIVE = ['incident', 'action'] as const
const KEYS = [
  ['storms', 'one'],
  ['storms', 'members'],
] as const

export function Page() {
  const project = useProjectId()
  const id = useResourceId()
  const { data, error, refetch } = useQuery(stormQuery(id))
  useLiveRefresh(LIVE, KEYS)
  const above = (
    <Link to="/p/$project/storms" params={{ project }}>
      Storms
    </Link>
  )
  if (data !== undefined) return <StormPage key={id} storm={data} above={above} />
  return (
    <>
      <PageHead title="Storm" above={above} />
      {error === null ? (
        <div className={classes.body} aria-busy="true">
          <Skeleton height={12} width="40%" />
          <Skeleton height={96} />
        </div>
      ) : (
        <Problem error={error} retry={() => void refetch()} what="The storm could not be read" />
      )}
    </>
  )
}

function StormPage({ storm, above }: { storm: StormWithSteps; above: ReactNode }) {
  const { may } = useSession()
  const { project_id: project, connection_id: id, state, began_at, last_at, ended_at, incidents } = storm
  const { data: connection } = useQuery(connectionQuery(project, id))
  const members = useQuery(membersQuery(storm))
  const canWrite = may('incidents:write', project)
  const controls = useStormControls(storm, canWrite)
  const money = moneyText(storm)
  return (
    <>
      <PageHead
        title={`${countOf(storm)} unexplained actions${money === '' ? '' : `: ${money}`}`}
        above={above}
        actions={canWrite && <StormButtons storm={storm} controls={controls} />}
      >
        <div className={classes.under}>
          <StateBadge state={state} />
          <span>
            {incidents.open} open, {incidents.acknowledged} acknowledged, {incidents.resolved} resolved
          </span>
          <span>
            Began <Time at={began_at} />
            {ended_at === null ? (
              ', goes on'
            ) : (
              <>
                , last one <Time at={last_at} />
              </>
            )}
          </span>
          <Link className="link" to="/p/$project/connections/$id" params={{ project, id }}>
            <bdi>{connection?.name ?? id}</bdi>
          </Link>
          <CopyId id={storm.storm_id} />
        </div>
      </PageHead>
      {canWrite && <StormDialogs storm={storm} controls={controls} />}
      {members.error !== null && members.data === undefined ? (
        <Problem
          error={members.error}
          retry={() => void members.refetch()}
          what="The incidents of the storm could not be read"
        />
      ) : (
        <div className={classes.body}>
          <NextSteps incident={storm} />
          {members.data !== undefined && <Summary storm={storm} members={members.data} />}
          <section className={classes.members}>
            <h2>Incidents</h2>
            {countOf(storm) > MAX_MEMBERS && (
              <p className={`dim ${classes.note}`}>The newest {MAX_MEMBERS} are listed and compared.</p>
            )}
            <DataList
              label="Incidents of the storm"
              list={listOf(members.data)}
              columns={COLUMNS}
              hrefOf={({ incident }) => `/p/${project}/incidents/${incident.incident_id}`}
              empty={<p>The incidents of this storm are not stored any more.</p>}
            />
          </section>
        </div>
      )}
    </>
  )
}

function Summary({ storm, members }: { storm: Storm; members: readonly Member[] }) {
  const sums = sumsOf(members)
  const common = commonOf(members)
  const times = members.map(({ incident, action }) => Date.parse(action?.provider_created_at ?? incident.opened_at))
  return (
    <>
      <section className={classes.section}>
        <h2>When they were made</h2>
        <MinuteChart bars={barsOf(times)} project={storm.project_id} connectionId={storm.connection_id} />
      </section>
      <div className={classes.two}>
        <section className={classes.section}>
          <h2>Money that moved</h2>
          {sums.length === 0 && <p className="dim">No money moved.</p>}
          <div className={classes.sums}>
            {sums.map(({ mode, currency, amount, count, largest }) => (
              <div key={`${mode} ${currency}`} className={classes.sum}>
                <Money amount={amount} currency={currency} />
                <span className="dim">{mode === 'test' ? 'Test' : mode === 'live' ? 'Live' : ''}</span>
                <span className="dim">
                  {count} {count === 1 ? 'action' : 'actions'}, largest <Money amount={largest} currency={currency} />
                </span>
              </div>
            ))}
          </div>
        </section>
        <section className={classes.section}>
          <h2>What they have in common</h2>
          {common.length === 0 && <p className="dim">Nothing that half of them share.</p>}
          <Facts facts={common.map(each => commonFact(each, members.length))} />
        </section>
      </div>
    </>
  )
}

const COMMON: Record<Common['what'], [string, (action: Common['action']) => ReactNode]> = {
  channel: ['Made', originSentence],
  key: ['API key', ({ origin }) => origin?.key_name],
  user: ['User', ({ origin }) => origin?.user],
  customer: ['Customer', ({ customer }) => customer?.name ?? customer?.email ?? customer?.id],
  subject: ['Payment', ({ subject }) => <CopyId id={subject} length={28} />],
  amount: ['Amount', ({ amount, currency }) => <Money amount={amount} currency={currency} />],
  reason: ['Reason given', ({ payment }) => payment?.refund_reason],
}

function commonFact({ what, action, count }: Common, of: number): readonly [string, ReactNode] {
  const [label, show] = COMMON[what]
  return [
    label,
    <span key={what}>
      <bdi>{show(action)}</bdi> <span className="faint">{count === of ? 'all' : `${count} of ${of}`}</span>
    </span>,
  ]
}

function listOf(members: readonly Member[] | undefined): ListState<Member> {
  return {
    items: members ?? [],
    isLoading: members === undefined,
    error: null,
    hasMore: false,
    isLoadingMore: false,
    moreError: null,
    arrivals: [],
    idOf: ({ incident }) => incident.incident_id,
    loadMore() {},
    retry() {},
    showArrivals() {},
  }
}

const COLUMNS: readonly Column<Member>[] = [
  { title: 'State', width: '128px', card: 'line', cell: ({ incident }) => <StateBadge state={incident.state} /> },
  {
    title: 'Amount',
    width: '120px',
    align: 'end',
    card: 'title',
    cell: ({ action }) => <Money amount={action?.amount} currency={action?.currency} />,
  },
  {
    title: 'Customer',
    width: 'minmax(0, 1fr)',
    card: 'line',
    cell: ({ action }) => (
      <bdi>{action?.customer?.name ?? action?.customer?.email ?? action?.customer?.id ?? action?.subject ?? ''}</bdi>
    ),
  },
  {
    title: 'Payment or subscription',
    width: '200px',
    cell: ({ action }) => (action === undefined ? '' : <CopyId id={action.subject} length={22} />),
  },
  timeColumn('Opened', '120px', ({ incident }) => incident.opened_at),
]
