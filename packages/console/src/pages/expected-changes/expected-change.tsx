import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useMemo } from 'react'
import { api, refresh } from '../../api/client.ts'
import { useConnectionNames } from '../../api/connections.ts'
import { useList } from '../../api/list.ts'
import {
  type ExpectedChange,
  type ExpectedChangeUse,
  expectedChangeQuery,
  expectedChangeUses,
} from '../../api/operations.ts'
import { ConfirmButton } from '../../parts/form/index.ts'
import { type Column, FilteredList, moneyColumn, textColumn, timeColumn } from '../../parts/list/index.ts'
import { PageHead, ProjectLink, ThingPage, useResourceId } from '../../parts/page/index.ts'
import { type FactList, Facts, idFact, Principal, Time, timeFact } from '../../parts/show/index.ts'
import { useSession } from '../../session/session.ts'
import { ActorLink } from '../actors/actor-link.tsx'
import { CustomerLink } from '../customers/customer-link.tsx'
import { INTERVALS } from '../operations/words.ts'
import { describeCovered, describeUse, ExpectedChangeBadge } from './expected-change-words.tsx'

const ABOVE = ['expected-changes', 'Expected changes'] as const

/** One expected change: what it covers, how much of it is used, and who made and ended it. */
export function Page() {
  const query = useQuery(expectedChangeQuery(useResourceId()))
  const loading = <Skeleton height={240} width="min(100%, 720px)" />
  return (
    <ThingPage kind="Expected change" above={ABOVE} query={query} loading={loading}>
      {change => <ChangePage change={change} />}
    </ThingPage>
  )
}

function ChangePage({ change }: { change: ExpectedChange }) {
  const { may } = useSession()
  const names = useConnectionNames(change.project_id)
  const isOver = change.deleted_at !== null || Date.parse(change.expires_at) <= Date.now()
  const end = async () => {
    await api.expectedChanges.delete(change.expected_change_id)
    await refresh('expected-changes')
  }
  return (
    <>
      <PageHead
        title={change.note}
        above={ABOVE}
        actions={
          !isOver &&
          may('manage', change.project_id) && (
            <ConfirmButton
              question="End this expected change?"
              consequence="It covers nothing more. Changes that it covered stay explained."
              onConfirm={end}
            >
              End now
            </ConfirmButton>
          )
        }
      />
      <div className="body">
        <Facts facts={factsOf(change, names)} />
        <Uses change={change} />
      </div>
    </>
  )
}

/** Every change that it covers, those of the newest interval first. */
function Uses({ change: { expected_change_id, interval } }: { change: ExpectedChange }) {
  const id = useMemo(() => expectedChangeUses(expected_change_id), [expected_change_id])
  return (
    <FilteredList
      label="Covered changes"
      list={useList(id, {})}
      columns={columnsOf(interval)}
      opens="actions"
      empty="It covers no change yet."
    />
  )
}

function columnsOf(interval: ExpectedChange['interval']): readonly Column<ExpectedChangeUse>[] {
  const from = textColumn<ExpectedChangeUse>(
    interval === null ? '' : INTERVAL_STARTS[interval],
    '120px',
    ({ period_start }) => period_start,
    { card: 'line' },
  )
  return [
    textColumn('Payment or subscription', 'minmax(0, 1fr)', ({ subject, action_id }) => subject ?? action_id, {
      card: 'title',
      tone: 'mono',
    }),
    ...(interval === null ? [] : [from]),
    moneyColumn('140px', ({ amount, currency }) => ({ amount: currency === null ? null : amount, currency }), 'line'),
    timeColumn('Made', '120px', ({ provider_created_at }) => provider_created_at),
  ]
}

const INTERVAL_STARTS = { day: 'Day', week: 'Week from', month: 'Month from' } as const

function factsOf(change: ExpectedChange, names: ReadonlyMap<string, string>): FactList {
  const { deleted_at, incident_id } = change
  return [
    ['State', <ExpectedChangeBadge key="state" change={change} />],
    ['Covers', describeCovered(change, names)],
    ['Payment or subscription', idFact(change.subject)],
    [
      'Customer',
      change.customer_id && (
        <CustomerLink
          key="customer"
          customer={{ id: change.customer_id, name: null, email: null }}
          connectionId={change.connection_id ?? ''}
        />
      ),
    ],
    ['Made by', change.actor_id && <ActorLink key="actor" actor_id={change.actor_id} actor_name={change.actor_id} />],
    ['Limits apply to', change.interval && `${INTERVALS[change.interval]}, in UTC`],
    ['Used', describeUse(change)],
    ['Begins', timeFact(change.starts_at)],
    [deleted_at === null ? 'Ends' : 'Would have ended', timeFact(change.expires_at)],
    [
      'Incident',
      incident_id && (
        <ProjectLink key="incident" page="incidents" id={incident_id}>
          Resolved as our own change
        </ProjectLink>
      ),
    ],
    ['Created', made(change.created_at, change.created_by)],
    ['Ended', deleted_at && made(deleted_at, change.deleted_by)],
    ['Id', idFact(change.expected_change_id)],
  ]
}

function made(at: string, by: string | null): ReactNode {
  return (
    <>
      <Time at={at} />
      {by !== null && (
        <>
          {' by '}
          <Principal id={by} />
        </>
      )}
    </>
  )
}
