import type { Action, IncidentWithTimeline } from '@backstop/client'
import { ProjectLink } from '../../parts/page/index.ts'
import {
  ConnectionName,
  CopyId,
  Facts,
  idFact,
  moneyFact,
  Principal,
  timeFact,
  useResourceName,
} from '../../parts/show/index.ts'
import { accountFact } from '../accounts/account-link.tsx'
import { stateWords } from '../actions/words.ts'
import { actorFact } from '../actors/actor-link.tsx'
import { CustomerLink, OthersOfCustomer } from '../customers/customer-link.tsx'
import classes from './incident.module.css'
import { kindWord, originSentence, subjectWord } from './words.ts'

/** What happened, to which customer and payment. */
export function ActionFacts({ action }: { action: Action }) {
  const { payment, mode } = action
  return (
    <Facts
      facts={[
        ['What', <span key="what">{`${kindWord(action)}, ${stateWords(action)}`}</span>],
        ['Amount', moneyFact(action.amount, action.currency)],
        ['Customer', <Customer key="customer" action={action} />],
        [subjectWord(action), idFact(action.subject, 40)],
        ['Invoice or number', payment?.number],
        ['Plan', payment?.plan],
        ['Reason given', payment?.refund_reason],
        ['Paid back to', action.authorization_released ? null : payment?.destination],
        ['Provider’s id', idFact(action.provider_ref, 40)],
        ['Made', timeFact(action.provider_created_at)],
        ['Connection', <ConnectionName key="connection" id={action.connection_id} />],
        ['Connected account', accountFact(action.account)],
        ['Mode', mode == null ? null : mode === 'test' ? 'Test: no real money' : 'Live'],
      ]}
    />
  )
}

function Customer({ action }: { action: Action }) {
  const customer = action.customer ?? null
  if (customer === null || (customer.name === null && customer.email === null && customer.id === null)) {
    return <span className="faint">The provider does not say</span>
  }
  const { name, email, id } = customer
  return (
    <>
      <CustomerLink customer={customer} connectionId={action.connection_id} />
      {name !== null && email !== null && (
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
      <OthersOfCustomer action={action} customer={customer} />
    </>
  )
}

/** Both refunds of an incident REFUNDED_TWICE, and the operations that made them. */
export function Repeat({ incident: { action, refunded_twice } }: { incident: IncidentWithTimeline }) {
  if (action === null || refunded_twice === undefined) return null
  const { earlier, operation_id } = refunded_twice
  const refund = (actionId: string, ref: string | null, operationId: string) => (
    <>
      <ProjectLink page="actions" id={actionId}>
        <bdi className="mono">{ref}</bdi>
      </ProjectLink>
      {' by operation '}
      <ProjectLink page="operations" id={operationId}>
        <bdi className="mono">{operationId}</bdi>
      </ProjectLink>
    </>
  )
  return (
    <Facts
      facts={[
        ['First refund', refund(earlier.action_id, earlier.provider_ref, earlier.operation_id)],
        ['Made', timeFact(earlier.provider_created_at)],
        ['Second refund', refund(action.action_id, action.provider_ref, operation_id)],
      ]}
    />
  )
}

/** How it was made, and by whom as far as the provider says. */
export function Origin({ action }: { action: Action }) {
  return (
    <>
      <p className={classes.sentence} dir="auto">
        {originSentence(action)}
      </p>
      <Facts
        facts={[
          ['Actor', actorFact(action)],
          ['Request', idFact(action.origin?.request_id, 40)],
          ['Idempotency key', idFact(action.origin?.idempotency_key, 40)],
        ]}
      />
    </>
  )
}

/** Facts of an incident that is about no action, such as a disabled channel. */
export function OtherFacts({ incident }: { incident: IncidentWithTimeline }) {
  const { project_id, connection_id, channel_id, key_id } = incident
  const linkTo = (page: 'connections' | 'channels', id: string | null | undefined) =>
    id == null ? null : <ResourceLink page={page} id={id} projectId={project_id} />
  return (
    <Facts
      facts={[
        ['Connection', linkTo('connections', connection_id)],
        ['Channel', linkTo('channels', channel_id)],
        ['API key', key_id == null ? null : <Principal key="key" id={key_id} hasRoom />],
        ['Opened', timeFact(incident.opened_at)],
      ]}
    />
  )
}

/** By its name, which is found also if the resource was deleted. */
function ResourceLink({ page, id, projectId }: { page: 'connections' | 'channels'; id: string; projectId: string }) {
  return (
    <ProjectLink page={page} id={id}>
      <bdi>{useResourceName(id, projectId) ?? id}</bdi>
    </ProjectLink>
  )
}
