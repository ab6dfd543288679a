import { Skeleton, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { type Storm, type StormWithSteps, stormQuery } from '../../api/incidents.ts'
import { wholeList } from '../../api/list.ts'
import { DataList, useLiveRefresh } from '../../parts/list/index.ts'
import { Marks, PageHead, Problem, ProjectLink, ThingPage, useResourceId } from '../../parts/page/index.ts'
import { ConnectionName, CopyId, Facts, Money, StateBadge, Time } from '../../parts/show/index.ts'
import { useSession } from '../../session/session.ts'
import { accountFact } from '../accounts/account-link.tsx'
import { actorFact } from '../actors/actor-link.tsx'
import { CustomerLink } from '../customers/customer-link.tsx'
import { SentList } from '../incidents/alerts-sent.tsx'
import { incidentColumns } from '../incidents/incident-columns.tsx'
import { NextSteps } from '../incidents/next-steps.tsx'
import { originSentence } from '../incidents/words.ts'
import { MinuteChart } from './minute-chart.tsx'
import classes from './storm.module.css'
import { StormAsked, StormButtons, StormDialogs, useStormControls } from './storm-controls.tsx'
import { countOf, moneyText, sizeText } from './storm-list.tsx'
import { MAX_MEMBERS, type Member, membersQuery } from './storm-members.ts'
import { barsOf, type Common, commonOf, sumsOf } from './storm-summary.ts'

const ABOVE = ['storms', 'Storms'] as const
const COLUMNS = incidentColumns()
const LIVE = ['incident', 'action'] as const
const KEYS = [
  ['storms', 'one'],
  ['storms', 'members'],
] as const

export function Page() {
  const id = useResourceId()
  useLiveRefresh(LIVE, KEYS)
  const loading = (
    <Stack gap="lg">
      <div className={classes.two}>
        <Skeleton height={160} />
        <Skeleton height={160} />
      </div>
      <Skeleton height={148} />
      <Skeleton height={400} />
    </Stack>
  )
  return (
    <ThingPage kind="Storm" above={ABOVE} query={useQuery(stormQuery(id))} loading={loading}>
      {storm => <StormPage key={id} storm={storm} />}
    </ThingPage>
  )
}

function StormPage({ storm }: { storm: StormWithSteps }) {
  const { may } = useSession()
  const { project_id: project } = storm
  const members = useQuery(membersQuery(storm))
  const canWrite = may('incidents:write', project)
  const controls = useStormControls(storm, canWrite)
  const money = moneyText(storm)
  return (
    <>
      <PageHead
        title={`${sizeText(storm)}${money === '' ? '' : `: ${money}`}`}
        above={ABOVE}
        actions={canWrite && <StormButtons storm={storm} controls={controls} />}
      >
        <Under storm={storm} />
      </PageHead>
      {canWrite && <StormDialogs storm={storm} controls={controls} />}
      <StormAsked storm={storm} controls={controls} />
      {members.error !== null && members.data === undefined ? (
        <Problem
          error={members.error}
          retry={() => void members.refetch()}
          what="The incidents of the storm could not be read"
        />
      ) : (
        <Stack className="body" gap="lg">
          <Bursts storm={storm} />
          <div className={classes.two}>
            <NextSteps incident={storm} />
            <Section title="Alerts sent">
              <SentList {...storm} search={{ storm_id: storm.storm_id }} />
            </Section>
          </div>
          {countOf(storm) > 0 && <Summary storm={storm} members={members.data} />}
          <section className={classes.members}>
            <h2>Incidents</h2>
            {countOf(storm) > MAX_MEMBERS && <p className="dim">The newest {MAX_MEMBERS} are listed and compared.</p>}
            <DataList
              label="Incidents of the storm"
              list={wholeList(
                members.data?.map(({ incident }) => incident),
                ({ incident_id }) => incident_id,
              )}
              columns={COLUMNS}
              hrefOf={({ incident_id }) => `/p/${project}/incidents/${incident_id}`}
              empty={
                storm.bursts === undefined || storm.ended_at !== null
                  ? 'The incidents of this storm are not stored any more.'
                  : 'The incidents open with the second looks of the actions.'
              }
            />
          </section>
        </Stack>
      )}
    </>
  )
}

/** The alarms before the second looks. */
function Bursts({ storm: { bursts = [] } }: { storm: Storm }) {
  if (bursts.length === 0) return null
  return (
    <div>
      {bursts.map(({ incident_id, opened_at, count }) => (
        <p key={incident_id}>
          <ProjectLink page="incidents" id={incident_id}>
            Burst of {count.toLocaleString('en')} actions
          </ProjectLink>{' '}
          <span className="dim">
            alerted <Time at={opened_at} />
          </span>
        </p>
      ))}
    </div>
  )
}

function Under({
  storm: { storm_id, connection_id, account, state, began_at, last_at, ended_at, incidents },
}: {
  storm: Storm
}) {
  return (
    <div className="dim">
      <Marks>
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
        <ConnectionName id={connection_id} />
        {account !== undefined && <span>account {accountFact(account)}</span>}
        <CopyId id={storm_id} />
      </Marks>
    </div>
  )
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={classes.section}>
      <h2>{title}</h2>
      {children}
    </section>
  )
}

function Summary({ storm, members }: { storm: Storm; members: readonly Member[] | undefined }) {
  const largest = new Map(sumsOf(members ?? []).map(sum => [`${sum.mode} ${sum.currency}`, sum.largest]))
  return (
    <>
      <Section title="When they were made">
        {members === undefined ? (
          <Skeleton height={116} />
        ) : (
          <MinuteChart bars={barsOf(members.map(madeAtMs))} connectionId={storm.connection_id} />
        )}
      </Section>
      <div className={classes.two}>
        <Section title="Money that moved">
          {storm.money.length === 0 && <p className="dim">No money moved.</p>}
          <div className={classes.sums}>
            {storm.money.map(({ mode, currency, amount, count }) => (
              <div key={`${mode} ${currency}`} className={classes.sum}>
                <Money amount={amount} currency={currency} />
                <span className="dim">{mode === 'test' ? 'Test' : mode === 'live' ? 'Live' : ''}</span>
                <span className="dim">
                  {count} {count === 1 ? 'action' : 'actions'}, largest{' '}
                  <Money amount={largest.get(`${mode} ${currency}`)} currency={currency} />
                </span>
              </div>
            ))}
          </div>
        </Section>
        <Section title="What they have in common">
          <div className={classes.common}>
            {members === undefined ? <Skeleton height={12} width="60%" /> : <InCommon members={members} />}
          </div>
        </Section>
      </div>
    </>
  )
}

const madeAtMs = ({ incident, action }: Member) => Date.parse(action?.provider_created_at ?? incident.opened_at)

function InCommon({ members }: { members: readonly Member[] }) {
  const common = commonOf(members)
  if (common.length === 0) return <p className="dim">Nothing that half of them share.</p>
  return <Facts facts={common.map(each => commonFact(each, members.length))} />
}

const COMMON: Record<Common['what'], [string, (action: Common['action']) => ReactNode]> = {
  channel: ['Made', originSentence],
  actor: ['Actor', actorFact],
  key: ['API key', ({ origin }) => origin?.key_name],
  user: ['User', ({ origin }) => origin?.user],
  customer: [
    'Customer',
    ({ customer, connection_id }) => customer && <CustomerLink customer={customer} connectionId={connection_id} />,
  ],
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
