import type { Action } from '@backstop/client'
import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { actionQuery } from '../../api/actions.ts'
import { localizeTimes } from '../../format/times.ts'
import { Columns, Marks, PageHead, Part, ProjectLink, ThingPage, useResourceId } from '../../parts/page/index.ts'
import {
  Badge,
  ConnectionName,
  type FactList,
  Facts,
  idFact,
  moneyFact,
  StateBadge,
  Timeline,
  timeFact,
  VerdictBadge,
} from '../../parts/show/index.ts'
import { accountFact } from '../accounts/account-link.tsx'
import { actorFact } from '../actors/actor-link.tsx'
import { CustomerLink, OthersOfCustomer } from '../customers/customer-link.tsx'
import { RawEvent } from './raw-event.tsx'
import { Candidates, Differences, Why } from './why.tsx'
import { nameAction, stateWords } from './words.ts'

const ABOVE = ['actions', 'Refunds and cancellations'] as const

export function Page() {
  const loading = (
    <>
      <Skeleton height={96} width="min(100%, 720px)" />
      <Columns>
        <Skeleton height={240} />
        <Skeleton height={240} />
      </Columns>
    </>
  )
  return (
    <ThingPage
      kind="Refund or cancellation"
      above={ABOVE}
      query={useQuery(actionQuery(useResourceId()))}
      loading={loading}
    >
      {action => <ActionPage action={action} />}
    </ThingPage>
  )
}

function ActionPage({ action }: { action: Action }) {
  const timeline = action.timeline.map(({ at, text, by }, place) => ({
    ...{ key: `${at}-${place}`, at, text: localizeTimes(text, at) },
    ...(by === undefined ? {} : { by: by.name }),
  }))
  return (
    <>
      <PageHead title={titleOf(action)} above={ABOVE} actions={<ProviderLink href={action.links?.provider} />}>
        <Marks>
          <VerdictBadge verdict={action.verdict} />
          <StateBadge state={action.state} />
          {action.mode === 'test' && <Badge tone="quiet">Test mode</Badge>}
        </Marks>
      </PageHead>
      <div className="body">
        <Why action={action} />
        <Columns>
          <div>
            <Candidates action={action} />
            <Differences action={action} />
            <Part title="Timeline">
              <Timeline entries={timeline} />
            </Part>
            <Events action={action} />
          </div>
          <div>
            <Part title="How it was made">
              <Facts facts={originOf(action)} />
            </Part>
            <Part title="What it is about">
              <Facts facts={aboutOf(action)} />
            </Part>
          </div>
        </Columns>
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

const CHANNELS = {
  api: 'With an API key',
  dashboard: 'In the dashboard of the provider',
  automatic: 'Automatically, by the provider',
  hosted_page: 'On a page that the provider hosts',
} as const

function originOf(action: Action): FactList {
  const { origin } = action
  const channel = origin?.channel ?? null
  const unknown = <span className="dim">The provider does not say</span>
  return [
    ['Made', channel === null ? unknown : CHANNELS[channel]],
    ['API key', origin?.key_name],
    ['By', origin?.user],
    ['Actor', actorFact(action)],
    ['Request', idFact(origin?.request_id, 24)],
    ['Idempotency key', idFact(origin?.idempotency_key, 24)],
  ]
}

function aboutOf(action: Action): FactList {
  const { customer, payment, kind } = action
  return [
    ['State', stateWords(action)],
    ['Amount', moneyFact(action.amount, action.currency)],
    [
      'Customer',
      customer?.name && <CustomerLink key="customer" customer={customer} connectionId={action.connection_id} />,
    ],
    ['E-mail', customer?.email],
    ['Customer id', idFact(customer?.id, 24)],
    ['Others', customer && <OthersOfCustomer key="others" action={action} customer={customer} />],
    [kind === 'refund' ? 'Payment' : 'Subject', idFact(action.subject, 24)],
    [kind === 'refund' ? 'Refund' : 'Id at the provider', idFact(action.provider_ref, 24)],
    ['Connected account', accountFact(action.account)],
    ['Receipt', payment?.number],
    ['Plan', payment?.plan],
    ['Reason given', payment?.refund_reason],
    ['Paid back to', action.authorization_released ? null : payment?.destination],
    ['Made', timeFact(action.provider_created_at)],
    ['First seen', timeFact(action.first_seen_at)],
    [
      'Connection',
      action.connection_ids.map(id => (
        <div key={id}>
          <ConnectionName id={id} />
        </div>
      )),
    ],
    ['Action', idFact(action.action_id, 24)],
  ]
}

function Events({ action: { event_ids, connection_id } }: { action: Action }) {
  if (event_ids.length === 0) return null
  return (
    <Part title="Events of the provider">
      <ul className="lines">
        {event_ids.map(id => (
          <RawEvent key={id} connectionId={connection_id} eventId={id} />
        ))}
      </ul>
      <p>
        <ProjectLink page="connections" id={connection_id} search={{ tab: 'inbox' }}>
          See the inbox of the connection
        </ProjectLink>
      </p>
    </Part>
  )
}
