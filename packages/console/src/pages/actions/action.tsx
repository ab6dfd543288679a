import type { Action } from '@backstop/client'
import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { actionQuery } from '../../api/actions.ts'
import { connectionQuery } from '../../api/connections.ts'
import { Badge, StateBadge, VerdictBadge } from '../../parts/badges.tsx'
import { CopyId } from '../../parts/copy-id.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Money } from '../../parts/money.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import sheet from '../../parts/sheet.module.css'
import { Time } from '../../parts/time.tsx'
import { Timeline } from '../../parts/timeline.tsx'
import { UnreadPage } from '../../parts/unread-page.tsx'
import { useProjectId, useResourceId } from '../../parts/use-route.ts'
import { RawEvent } from './raw-event.tsx'
import { Candidates, Differences, Why } from './why.tsx'
import { nameAction, stateWords } from './words.ts'

export function Page() {
  const project = useProjectId()
  const { data: action, error, refetch } = useQuery(actionQuery(useResourceId()))
  const above = (
    <Link to="/p/$project/actions" params={{ project }}>
      Refunds and cancellations
    </Link>
  )
  if (action === undefined) {
    return (
      <UnreadPage title="Refund or cancellation" above={above} error={error} retry={() => void refetch()}>
        <Skeleton height={96} width="min(100%, 720px)" />
        <div className={sheet.columns}>
          <Skeleton height={240} />
          <Skeleton height={240} />
        </div>
      </UnreadPage>
    )
  }
  const { verdict, state, mode, links } = action
  return (
    <>
      <PageHead title={titleOf(action)} above={above} actions={<ProviderLink href={links?.provider} />}>
        <div className={sheet.marks}>
          <VerdictBadge verdict={verdict} />
          <StateBadge state={state} />
          {mode === 'test' && <Badge tone="quiet">Test mode</Badge>}
        </div>
      </PageHead>
      <div className="body">
        <Why action={action} />
        <div className={sheet.columns}>
          <div>
            <Candidates action={action} />
            <Differences action={action} />
            <section className={sheet.part}>
              <h2>Timeline</h2>
              <Timeline entries={timelineOf(action)} />
            </section>
            <Events action={action} />
          </div>
          <div>
            <section className={sheet.part}>
              <h2>How it was made</h2>
              <Facts facts={originOf(action)} />
            </section>
            <section className={sheet.part}>
              <h2>What it is about</h2>
              <Facts facts={aboutOf(action)} />
            </section>
          </div>
        </div>
      </div>
    </>
  )
}

function titleOf(action: Action): string {
  const about = [action.customer?.name, action.payment?.plan].find(text => text != null && text !== '')
  return about === undefined ? nameAction(action) : `${nameAction(action)} · ${about}`
}

function ProviderLink({ href }: { href: string | null | undefined }) {
  if (href === null || href === undefined || !href.startsWith('https://')) return null
  return (
    <Button component="a" href={href} target="_blank" rel="noreferrer" variant="default">
      Open at the provider
    </Button>
  )
}

type FactList = readonly (readonly [label: string, value: ReactNode])[]

const CHANNELS = {
  api: 'With an API key',
  dashboard: 'In the dashboard of the provider',
  automatic: 'Automatically, by the provider',
  hosted_page: 'On a page that the provider hosts',
} as const

function copyable(id: string | null | undefined): ReactNode {
  return id === null || id === undefined ? null : <CopyId id={id} length={24} />
}

function originOf({ origin }: Action): FactList {
  const channel = origin?.channel ?? null
  return [
    [
      'Made',
      channel === null ? (
        <span key="made" className="dim">
          The provider does not say
        </span>
      ) : (
        CHANNELS[channel]
      ),
    ],
    ['API key', origin?.key_name],
    ['By', origin?.user],
    ['Request', copyable(origin?.request_id)],
    ['Idempotency key', copyable(origin?.idempotency_key)],
  ]
}

function aboutOf(action: Action): FactList {
  const { customer, payment, kind, subject, provider_ref, amount, currency } = action
  return [
    ['State', stateWords(action)],
    ['Amount', amount === null ? null : <Money key="amount" amount={amount} currency={currency} />],
    ['Customer', customer?.name],
    ['E-mail', customer?.email],
    ['Customer id', copyable(customer?.id)],
    [kind === 'refund' ? 'Payment' : 'Subject', copyable(subject)],
    [kind === 'refund' ? 'Refund' : 'Id at the provider', copyable(provider_ref)],
    ['Connected account', copyable(action.account)],
    ['Receipt', payment?.number],
    ['Plan', payment?.plan],
    ['Reason given', payment?.refund_reason],
    ['Paid back to', action.authorization_released ? null : payment?.destination],
    ['Made', <Time key="made" at={action.provider_created_at} />],
    ['First seen', <Time key="seen" at={action.first_seen_at} />],
    ['Connection', <Connections key="connections" action={action} />],
    ['Action', copyable(action.action_id)],
  ]
}

function Connections({ action: { project_id, connection_ids } }: { action: Action }) {
  return connection_ids.map(id => <ConnectionName key={id} projectId={project_id} id={id} />)
}

function ConnectionName({ projectId, id }: { projectId: string; id: string }) {
  const { data } = useQuery(connectionQuery(projectId, id))
  return (
    <div>
      <Link className="link" to="/p/$project/connections/$id" params={{ project: projectId, id }}>
        <bdi>{data?.name ?? id}</bdi>
      </Link>
    </div>
  )
}

function timelineOf({ timeline }: Action) {
  return timeline.map(({ at, text, by }, place) => ({
    key: `${at}-${place}`,
    at,
    text,
    ...(by === undefined ? {} : { by: by.name }),
  }))
}

function Events({ action: { event_ids, connection_id, project_id } }: { action: Action }) {
  if (event_ids.length === 0) return null
  return (
    <section className={sheet.part}>
      <h2>Events of the provider</h2>
      <ul className={sheet.lines}>
        {event_ids.map(id => (
          <RawEvent key={id} connectionId={connection_id} eventId={id} />
        ))}
      </ul>
      <p>
        <Link
          to="/p/$project/connections/$id"
          params={{ project: project_id, id: connection_id }}
          search={{ tab: 'inbox' } as never}
        >
          See the inbox of the connection
        </Link>
      </p>
    </section>
  )
}
