import type { Action, ShownOperation } from '@backstop/client'
import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { connectionQuery } from '../../api/connections.ts'
import { useList } from '../../api/list.ts'
import { explainedActionsQuery, operationList, operationQuery } from '../../api/operations.ts'
import { StateBadge, VerdictBadge } from '../../parts/badges.tsx'
import { CopyId } from '../../parts/copy-id.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Money } from '../../parts/money.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Problem } from '../../parts/problem.tsx'
import sheet from '../../parts/sheet.module.css'
import { Time } from '../../parts/time.tsx'
import { Timeline, type TimelineEntry } from '../../parts/timeline.tsx'
import { UnreadPage } from '../../parts/unread-page.tsx'
import { useProjectId, useResourceId } from '../../parts/use-route.ts'
import { type Actors, useActors } from './actors.ts'
import { BudgetEffects } from './budget-effects.tsx'
import { Decision } from './decision.tsx'
import classes from './operations.module.css'
import { useReadAgain } from './use-read-again.ts'
import { nameOperation, OPERATION_STATES, STATE_MEANING, UNAPPROVED_MEANING } from './words.ts'

export function Page() {
  const project = useProjectId()
  const { data: operation, error, refetch } = useQuery(operationQuery(useResourceId()))
  useReadAgain('operations')
  const above = (
    <Link to="/p/$project/operations" params={{ project }}>
      Operations
    </Link>
  )
  if (operation !== undefined) return <Operation key={operation.operation_id} operation={operation} above={above} />
  return (
    <UnreadPage title="Operation" above={above} error={error} retry={() => void refetch()}>
      <Skeleton height={180} width="min(100%, 720px)" />
      <div className={sheet.columns}>
        <Skeleton height={240} />
        <Skeleton height={240} />
      </div>
    </UnreadPage>
  )
}

function Operation({ operation, above }: { operation: ShownOperation; above: ReactNode }) {
  const actors = useActors(operation)
  const { state, unapproved } = operation
  return (
    <>
      <PageHead title={nameOperation(operation)} above={above}>
        <div className={sheet.marks}>
          <StateBadge state={state} />
        </div>
      </PageHead>
      <div className="body">
        <Decision operation={operation} />
        {operation.approval?.decided_at != null && <NextApproval projectId={operation.project_id} />}
        <p className="dim">{STATE_MEANING[state]}</p>
        {unapproved != null && <p className={classes.over}>{UNAPPROVED_MEANING[unapproved]}</p>}
        <div className={sheet.columns}>
          <div>
            <section className={sheet.part}>
              <h2>Timeline</h2>
              <Timeline entries={timelineOf(operation, actors)} />
            </section>
            <Explained operation={operation} />
            {operation.kind === 'refund' && state !== 'approval_pending' && (
              <section className={sheet.part}>
                <h2>Budgets</h2>
                <BudgetEffects operation={operation} />
              </section>
            )}
          </div>
          <section className={sheet.part}>
            <h2>What your software reported</h2>
            <Facts facts={factsOf(operation, actors)} />
          </section>
        </div>
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
        component={Link}
        to={`/p/${projectId}/operations/${next.operation_id}`}
        variant="default"
        aria-label={`Next approval: ${nameOperation(next)}`}
      >
        Next approval
      </Button>
    </div>
  )
}

function copyable(id: string | null): ReactNode {
  return id === null ? null : <CopyId id={id} length={24} />
}

function factsOf(operation: ShownOperation, { askedBy }: Actors) {
  const { project_id, connection_id, kind, amount, currency, subject, run_id } = operation
  return [
    ['Amount', amount === null ? null : <Money key="amount" amount={amount} currency={currency} />],
    [kind === 'refund' ? 'Payment' : 'Subscription', copyable(subject)],
    [kind === 'refund' ? 'Refund' : 'Id at the provider', copyable(operation.provider_ref)],
    ['Idempotency key', copyable(operation.idempotency_key)],
    ['Reason', operation.reason],
    ['Reported by', askedBy],
    [
      'Run',
      run_id === null ? null : (
        <Link key="run" className="link" to="/p/$project/runs/$id" params={{ project: project_id, id: run_id }}>
          <bdi>{run_id}</bdi>
        </Link>
      ),
    ],
    ['Connection', <ConnectionName key="connection" projectId={project_id} id={connection_id} />],
    ['Operation', copyable(operation.operation_id)],
  ] as const
}

function ConnectionName({ projectId, id }: { projectId: string; id: string }) {
  const { data } = useQuery(connectionQuery(projectId, id))
  return (
    <Link className="link" to="/p/$project/connections/$id" params={{ project: projectId, id }}>
      <bdi>{data?.name ?? id}</bdi>
    </Link>
  )
}

function timelineOf(operation: ShownOperation, { askedBy, decidedBy }: Actors): TimelineEntry[] {
  const { approval, state, created_at, executing_at, ended_at } = operation
  const word = OPERATION_STATES.find(({ value }) => value === state)?.label ?? state
  const isDecided = (answer: 'declined' | 'expired') => state === answer || operation.unapproved === answer
  const decision = isDecided('declined') ? 'Declined' : isDecided('expired') ? 'Expired' : 'Approved'
  const asked = approval != null && approval.requested_at === created_at
  const entries: (TimelineEntry | null)[] = [
    {
      key: 'reported',
      at: created_at,
      text: asked ? 'Reported; it needs approval' : 'Reported',
      ...(askedBy === null ? {} : { by: askedBy }),
    },
    approval != null && !asked ? { key: 'asked', at: approval.requested_at, text: 'Asked for approval' } : null,
    approval?.reminded_at != null ? { key: 'reminded', at: approval.reminded_at, text: 'Reminder sent' } : null,
    approval?.decided_at != null
      ? { key: 'decided', at: approval.decided_at, text: decision, ...(decidedBy === null ? {} : { by: decidedBy }) }
      : null,
    executing_at === null ? null : { key: 'executing', at: executing_at, text: 'Sent to the provider' },
    ended_at === null || ended_at === approval?.decided_at ? null : { key: 'ended', at: ended_at, text: word },
  ]
  return entries.filter(entry => entry !== null).sort((one, other) => one.at.localeCompare(other.at))
}

function Explained({ operation }: { operation: ShownOperation }) {
  const { data, error, refetch } = useQuery(explainedActionsQuery(operation))
  return (
    <section className={sheet.part}>
      <h2>What it explains</h2>
      {error !== null ? (
        <Problem error={error} retry={() => void refetch()} what="The refunds and cancellations could not be read" />
      ) : data === undefined ? (
        <Skeleton height={40} />
      ) : data.length === 0 ? (
        <p className="dim">The provider has not shown a refund or cancellation that this operation explains.</p>
      ) : (
        <ul className={sheet.lines}>
          {data.map(action => (
            <ExplainedAction key={action.action_id} action={action} />
          ))}
        </ul>
      )}
    </section>
  )
}

function ExplainedAction({ action }: { action: Action }) {
  const { project_id, action_id, kind, amount, currency, verdict, first_seen_at } = action
  return (
    <li>
      <div className={classes.effectTop}>
        <Link className="link" to="/p/$project/actions/$id" params={{ project: project_id, id: action_id }}>
          {nameOperation({ kind: kind === 'refund' ? 'refund' : 'cancellation', amount, currency })}
        </Link>
        <VerdictBadge verdict={verdict} />
        <span className="faint">
          seen <Time at={first_seen_at} />
        </span>
      </div>
    </li>
  )
}
