import type { IncidentWithTimeline } from '@backstop/client'
import type { ReactNode } from 'react'
import { formatMoney } from '../../format/money.ts'
import { ProjectLink } from '../../parts/page/index.ts'
import { ConnectionName, type FactList, Facts, Time } from '../../parts/show/index.ts'
import { accountFact } from '../accounts/account-link.tsx'
import { ActorLink } from '../actors/actor-link.tsx'
import { CustomerLink } from '../customers/customer-link.tsx'
import { moneyText } from '../storms/storm-list.tsx'
import classes from './incident.module.css'
import { kindWord, originSentence, subjectWord } from './words.ts'

type Burst = NonNullable<IncidentWithTimeline['burst']>
type Common = NonNullable<Burst['common']>

/** A burst: what is known of its actions, why the alarm was given, and what the second looks found. */
export function BurstFacts({ incident, burst }: { incident: IncidentWithTimeline; burst: Burst }) {
  const { connection_id, summary } = incident
  return (
    <>
      <p className={classes.sentence} dir="auto">
        {summary}.
      </p>
      <Facts
        facts={[
          ['What', burst.kinds.map(({ kind, count }) => `${count} × ${kindWord({ kind })}`).join(', ')],
          ['Money', burst.money.length === 0 ? null : moneyText(burst)],
          ['Rate', rateOf(burst)],
          ['First seen', <Between key="seen" from={burst.first_at} to={burst.last_at} />],
          ['Second looks', <Between key="looks" from={burst.looks_at} to={burst.last_look_at} />],
          ['Outcome', outcomeOf(incident, burst)],
          ['Connection', connection_id === null ? null : <ConnectionName key="connection" id={connection_id} />],
          ['Connected account', accountFact(burst.account)],
          ['Connected accounts', burst.accounts?.toLocaleString('en')],
          ['Why now', burst.why.rule],
        ]}
      />
      {burst.outcome === undefined && connection_id !== null && (
        <p>
          <ProjectLink page="actions" search={{ connection_id, verdict: 'pending' }}>
            The actions that wait for their second look
          </ProjectLink>
        </p>
      )}
    </>
  )
}

/** What most actions of a burst have in common, beginning with how they were made. */
export function BurstOrigin({ burst, connectionId }: { burst: Burst; connectionId: string }) {
  const { count, common } = burst
  if (common === undefined) return <p className={classes.sentence}>The provider does not say how they were made.</p>
  const { channel, key_name, user } = common
  const origin = {
    channel: channel?.value ?? null,
    key_name: key_name?.value ?? null,
    user: user?.value ?? null,
    request_id: null,
    idempotency_key: null,
  }
  const most = (key_name ?? user ?? channel)?.count ?? 0
  return (
    <>
      <p className={classes.sentence} dir="auto">
        {originSentence({ origin })} {most > 0 && <span className="faint">({shareOf(most, count)})</span>}
      </p>
      <Facts facts={commonFacts(common, burst, connectionId)} />
    </>
  )
}

function commonFacts(
  { actor, customer, subject, amount, refund_reason }: Common,
  { count: of, kinds }: Burst,
  connectionId: string,
): FactList {
  const shared = (value: ReactNode, count: number | undefined) =>
    value == null || count === undefined ? null : (
      <span>
        <bdi>{value}</bdi> <span className="faint">{shareOf(count, of)}</span>
      </span>
    )
  const customerLink = customer && <CustomerLink customer={customer.value} connectionId={connectionId} />
  return [
    ['Actor', actor == null ? null : <CommonActor key="actor" actor={actor} of={of} />],
    ['Customer', shared(customerLink, customer?.count)],
    [subjectWord({ kind: kinds[0]?.kind ?? 'refund' }), shared(subject?.value, subject?.count)],
    ['Amount', shared(amount === null ? null : formatMoney(amount.value, amount.currency), amount?.count)],
    ['Reason given', shared(refund_reason?.value, refund_reason?.count)],
  ]
}

function CommonActor({ actor, of }: { actor: NonNullable<Common['actor']>; of: number }) {
  const { value, name, count } = actor
  return (
    <>
      <ActorLink actor_id={value} actor_name={name} /> <span className="faint">{shareOf(count, of)}</span>
    </>
  )
}

function shareOf(count: number, of: number): string {
  return count === of ? 'all' : `${count} of ${of}`
}

function rateOf({ count, first_at, last_at, per_minute }: Burst): string {
  const seconds = Math.max(1, Math.round((Date.parse(last_at) - Date.parse(first_at)) / 1_000))
  if (seconds >= 60) return `About ${Math.round(per_minute).toLocaleString('en')} a minute`
  return `${count.toLocaleString('en')} within ${seconds} ${seconds === 1 ? 'second' : 'seconds'}`
}

function outcomeOf({ storm_id, state, resolution }: IncidentWithTimeline, { outcome, looks_at }: Burst) {
  const storm =
    storm_id == null ? null : (
      <ProjectLink page="storms" id={storm_id}>
        its storm
      </ProjectLink>
    )
  if (outcome === 'confirmed') return <>Confirmed{storm !== null && <>, continues in {storm}</>}</>
  if (state === 'resolved') return resolution ?? null
  return (
    <>
      Known after their second looks, from <Time at={looks_at} /> on{storm !== null && <>, in {storm}</>}
    </>
  )
}

function Between({ from, to }: { from: string; to: string }) {
  return (
    <>
      <Time at={from} />
      {from !== to && (
        <>
          {' to '}
          <Time at={to} />
        </>
      )}
    </>
  )
}
