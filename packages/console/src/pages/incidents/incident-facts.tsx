import type { Action, IncidentWithTimeline } from '@backstop/client'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { connectionQuery } from '../../api/connections.ts'
import { CopyId } from '../../parts/copy-id.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Money } from '../../parts/money.tsx'
import { Principal, useResourceName } from '../../parts/name-of.tsx'
import { Time } from '../../parts/time.tsx'
import { stateWords } from '../actions/words.ts'
import classes from './incident.module.css'
import { kindWord, originSentence, subjectWord } from './words.ts'

/** What happened, to which customer and payment. */
export function ActionFacts({ action }: { action: Action }) {
  const { project_id, connection_id, payment, mode } = action
  const { data: connection } = useQuery(connectionQuery(project_id, connection_id))
  return (
    <Facts
      facts={[
        ['What', <span key="what">{`${kindWord(action)}, ${stateWords(action)}`}</span>],
        [
          'Amount',
          action.amount === null ? null : <Money key="amount" amount={action.amount} currency={action.currency} />,
        ],
        ['Customer', <Customer key="customer" customer={action.customer ?? null} />],
        [subjectWord(action), <CopyId key="subject" id={action.subject} length={40} />],
        ['Invoice or number', payment?.number ?? null],
        ['Plan', payment?.plan ?? null],
        ['Reason given', payment?.refund_reason ?? null],
        ['Paid back to', action.authorization_released ? null : payment?.destination],
        [
          'Provider’s id',
          action.provider_ref === null ? null : <CopyId key="ref" id={action.provider_ref} length={40} />,
        ],
        ['Made', <Time key="made" at={action.provider_created_at} />],
        [
          'Connection',
          <Link
            key="connection"
            className="link"
            to="/p/$project/connections/$id"
            params={{ project: project_id, id: connection_id }}
          >
            <bdi>{connection?.name ?? connection_id}</bdi>
          </Link>,
        ],
        [
          'Connected account',
          action.account === undefined ? null : <CopyId key="account" id={action.account} length={40} />,
        ],
        ['Mode', mode == null ? null : mode === 'test' ? 'Test: no real money' : 'Live'],
      ]}
    />
  )
}

function Customer({ customer }: { customer: NonNullable<Action['customer']> | null }) {
  if (customer === null || (customer.name === null && customer.email === null && customer.id === null)) {
    return <span className="faint">The provider does not say</span>
  }
  const { name, email, id } = customer
  return (
    <>
      {name !== null && <bdi>{name}</bdi>}
      {email !== null && (
        <>
          {' '}
          <bdi className="dim">{email}</bdi>
        </>
      )}
      {id !== null && id !== email && (
        <div>
          <CopyId id={id} length={40} />
        </div>
      )}
    </>
  )
}

/** How it was made, and by whom as far as the provider says. */
export function Origin({ action }: { action: Action }) {
  const { request_id = null, idempotency_key = null } = action.origin ?? {}
  return (
    <>
      <p className={classes.sentence} dir="auto">
        {originSentence(action)}
      </p>
      <Facts
        facts={[
          ['Request', request_id === null ? null : <CopyId key="request" id={request_id} length={40} />],
          ['Idempotency key', idempotency_key === null ? null : <CopyId key="key" id={idempotency_key} length={40} />],
        ]}
      />
    </>
  )
}

/** Facts of an incident that is about no action, such as a disabled channel. */
export function OtherFacts({ incident }: { incident: IncidentWithTimeline }) {
  const { project_id: project, connection_id, channel_id, key_id } = incident
  const connectionName = useResourceName(connection_id ?? '', project)
  const channelName = useResourceName(channel_id ?? '', project)
  return (
    <Facts
      facts={[
        [
          'Connection',
          connection_id === null ? null : (
            <Link
              key="connection"
              className="link"
              to="/p/$project/connections/$id"
              params={{ project, id: connection_id }}
            >
              <bdi>{connectionName ?? connection_id}</bdi>
            </Link>
          ),
        ],
        [
          'Channel',
          channel_id == null ? null : (
            <Link key="channel" className="link" to="/p/$project/channels/$id" params={{ project, id: channel_id }}>
              <bdi>{channelName ?? channel_id}</bdi>
            </Link>
          ),
        ],
        ['API key', key_id == null ? null : <Principal key="key" id={key_id} hasRoom />],
        ['Opened', <Time key="opened" at={incident.opened_at} />],
      ]}
    />
  )
}
