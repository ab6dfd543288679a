import type { Action, ShownOperation } from '@backstop/client'
import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useList } from '../../api/list.ts'
import { explainedActionsQuery, operationList, operationQuery } from '../../api/operations.ts'
import { useReadAgain } from '../../parts/list/index.ts'
import { Columns, Marks, PageHead, Part, ProjectLink, Read, ThingPage, useResourceId } from '../../parts/page/index.ts'
import {
  ConnectionName,
  type FactList,
  Facts,
  idFact,
  moneyFact,
  StateBadge,
  Time,
  Timeline,
  type TimelineEntry,
  VerdictBadge,
} from '../../parts/show/index.ts'
import { type Actors, useActors } from './actors.ts'
import { BudgetEffects } from './budget-effects.tsx'
import { Decision } from './decision.tsx'
import classes from './operations.module.css'
import { nameOperation, OPERATION_STATES, STATE_MEANING, UNAPPROVED_MEANING } from './words.ts'

const ABOVE = ['operations', 'Operations'] as const

export function Page() {
  const query = useQuery(operationQuery(useResourceId()))
  useReadAgain('operations')
  const loading = (
    <>
      <Skeleton height={180} width="min(100%, 720px)" />
      <Columns>
        <Skeleton height={240} />
        <Skeleton height={240} />
      </Columns>
    </>
  )
  return (
    <ThingPage kind="Operation" above={ABOVE} query={query} loading={loading}>
      {operation => <Operation key={operation.operation_id} operation={operation} />}
    </ThingPage>
  )
}

function Operation({ operation }: { operation: ShownOperation }) {
  const actors = useActors(operation)
  const { state, unapproved } = operation
  return (
    <>
      <PageHead title={nameOperation(operation)} above={ABOVE}>
        <Marks>
          <StateBadge state={state} />
        </Marks>
      </PageHead>
      <div className="body">
        <Decision operation={operation} />
        {operation.approval?.decided_at != null && <NextApproval projectId={operation.project_id} />}
        <p className="dim">{STATE_MEANING[state]}</p>
        {unapproved != null && <p className={classes.over}>{UNAPPROVED_MEANING[unapproved]}</p>}
        <Columns>
          <div>
            <Part title="Timeline">
              <Timeline entries={timelineOf(operation, actors)} />
            </Part>
            <Explained operation={operation} />
            {operation.kind === 'refund' && state !== 'approval_pending' && (
              <Part title="Budgets">
                <BudgetEffects operation={operation} />
              </Part>
            )}
          </div>
          <Part title="What your software reported">
            <Facts facts={factsOf(operation, actors)} />
          </Part>
        </Columns>
      </div>
    </>
  )
}

/** After a decision: the way to the next one. */
function NextApproval({ projectId }: { projectId: string }) {
  const { items, isLoading } = useList(operationList, { project_id: projectId, state: 'approval_pending' })
  const next = items.at(-1)
  if (isLoading || next === undefined) return null
  return (
    <div className={classes.next}>
      <Button
        component={ProjectLink}
        page="operations"
        id={next.operation_id}
        variant="default"
        aria-label={`Next approval: ${nameOperation(next)}`}
      >
        Next approval
      </Button>
    </div>
  )
}

function factsOf(operation: ShownOperation, { askedBy }: Actors): FactList {
  const { kind, run_id } = operation
  return [
    ['Amount', moneyFact(operation.amount, operation.currency)],
    [kind === 'refund' ? 'Payment' : 'Subscription', idFact(operation.subject, 24)],
    [kind === 'refund' ? 'Refund' : 'Id at the provider', idFact(operation.provider_ref, 24)],
    ['Idempotency key', idFact(operation.idempotency_key, 24)],
    ['Request at the provider', idFact(operation.provider_request_id ?? null, 24)],
    ['Reason', operation.reason],
    ['Reported by', askedBy],
    [
      'Run of your software',
      run_id === null ? null : (
        <ProjectLink key="run" page="runs" id={run_id}>
          <bdi>{run_id}</bdi>
        </ProjectLink>
      ),
    ],
    ['Connection', <ConnectionName key="connection" id={operation.connection_id} />],
    ['Operation', idFact(operation.operation_id, 24)],
  ]
}

function timelineOf(operation: ShownOperation, { askedBy, decidedBy }: Actors): TimelineEntry[] {
  const { approval, state, created_at, executing_at, ended_at } = operation
  const word = OPERATION_STATES.find(({ value }) => value === state)?.label ?? state
  const isDecided = (answer: 'declined' | 'expired') => state === answer || operation.unapproved === answer
  const decision = isDecided('declined') ? 'Declined' : isDecided('expired') ? 'Expired' : 'Approved'
  const asked = approval != null && approval.requested_at === created_at
  const reported = asked ? 'Reported; it needs approval' : 'Reported'
  const steps: readonly (readonly [text: string, at: string | null | undefined, by?: string | null])[] = [
    [reported, created_at, askedBy],
    ['Asked for approval', asked ? null : approval?.requested_at],
    ['Reminder sent', approval?.reminded_at],
    [decision, approval?.decided_at, decidedBy],
    ['Sent to the provider', executing_at],
    [word, ended_at === approval?.decided_at ? null : ended_at],
  ]
  return steps
    .flatMap(([text, at, by]) => (at == null ? [] : [{ key: text, at, text, ...(by == null ? {} : { by }) }]))
    .sort((one, other) => one.at.localeCompare(other.at))
}

function Explained({ operation }: { operation: ShownOperation }) {
  return (
    <Part title="What it explains">
      <Read
        query={useQuery(explainedActionsQuery(operation))}
        what="The refunds and cancellations could not be read"
        loading={<Skeleton height={40} />}
      >
        {actions =>
          actions.length === 0 ? (
            <p className="dim">The provider has not shown a refund or cancellation that this operation explains.</p>
          ) : (
            <ul className="lines">
              {actions.map(action => (
                <ExplainedAction key={action.action_id} {...action} />
              ))}
            </ul>
          )
        }
      </Read>
    </Part>
  )
}

function ExplainedAction({ action_id, kind, amount, currency, verdict, first_seen_at }: Action) {
  return (
    <li>
      <div className={classes.effectTop}>
        <ProjectLink page="actions" id={action_id}>
          {nameOperation({ kind: kind === 'refund' ? 'refund' : 'cancellation', amount, currency })}
        </ProjectLink>
        <VerdictBadge verdict={verdict} />
        <span className="faint">
          seen <Time at={first_seen_at} />
        </span>
      </div>
    </li>
  )
}
