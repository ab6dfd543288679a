import type { IncidentWithTimeline } from '@backstop/client'
import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { incidentQuery } from '../../api/incidents.ts'
import { formatMoney } from '../../format/money.ts'
import { StateBadge } from '../../parts/badges.tsx'
import { CopyId } from '../../parts/copy-id.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Time } from '../../parts/time.tsx'
import { useProjectId, useResourceId } from '../../parts/use-route.ts'
import { useSession } from '../../session/session.ts'
import { AlertsSent } from './alerts-sent.tsx'
import { Candidates } from './candidates.tsx'
import { INCIDENT_CODES } from './codes.ts'
import { CommentForm } from './comment-form.tsx'
import classes from './incident.module.css'
import { IncidentControls } from './incident-controls.tsx'
import { ActionFacts, Origin, OtherFacts } from './incident-facts.tsx'
import { IncidentRace, StateSentence } from './incident-race.tsx'
import { IncidentTimeline } from './incident-timeline.tsx'
import { NextSteps } from './next-steps.tsx'
import { Owner } from './owner.tsx'
import { type Change, useIncidentChange } from './use-incident-change.ts'
import { kindWord } from './words.ts'

const NOT_CHANGED: Record<Exclude<Change['kind'], 'comment'>, string> = {
  acknowledge: 'The incident was not acknowledged',
  resolve: 'The incident was not resolved',
  assign: 'The owner was not changed',
  reopen: 'The incident was not opened again',
}

export function Page() {
  const project = useProjectId()
  const id = useResourceId()
  const { data, error, refetch } = useQuery(incidentQuery(id))
  const above = (
    <Link to="/p/$project/incidents" params={{ project }}>
      Incidents
    </Link>
  )
  if (data !== undefined) return <Incident key={id} incident={data} above={above} />
  return (
    <>
      <PageHead title="Incident" above={above} />
      {error === null ? (
        <Loading />
      ) : (
        <Problem error={error} retry={() => void refetch()} what="The incident could not be read" />
      )}
    </>
  )
}

function Incident({ incident, above }: { incident: IncidentWithTimeline; above: ReactNode }) {
  const { may } = useSession()
  const changes = useIncidentChange(incident.incident_id)
  const { lost, error, failed, isPending, send, forget } = changes
  const { action, project_id } = incident
  const canWrite = may('incidents:write', project_id)
  return (
    <>
      <PageHead
        title={titleOf(incident)}
        above={above}
        actions={canWrite && <IncidentControls incident={incident} changes={changes} />}
      >
        <Under incident={incident} />
      </PageHead>
      {lost !== undefined && lost.kind !== 'resolve' && (
        <div className={classes.race}>
          <IncidentRace
            incident={incident}
            lost={lost}
            isBusy={isPending}
            onKeepTheirs={forget}
            onApplyYours={() => void send({ change: lost, version: incident.version })}
          />
        </div>
      )}
      {error !== null && failed !== undefined && failed !== 'comment' && (
        <Problem error={error} what={NOT_CHANGED[failed]} />
      )}
      <div className={classes.columns}>
        <div>
          <Section title="What happened">
            {action !== null && (
              <p className={classes.sentence} dir="auto">
                {incident.summary}.
              </p>
            )}
            {action === null ? <OtherFacts incident={incident} /> : <ActionFacts action={action} />}
          </Section>
          {action !== null && (
            <Section title="How it was made">
              <Origin action={action} />
            </Section>
          )}
          <NextSteps incident={incident} />
          {action !== null && action.verdict === 'unexplained' && (
            <Section title="Why nothing explains it">
              <Candidates action={action} />
            </Section>
          )}
          <Section title="Timeline">
            <IncidentTimeline incident={incident} />
            {canWrite && (
              <CommentForm
                problem={
                  error !== null && failed === 'comment' && <Problem error={error} what="The comment was not stored" />
                }
                onComment={text => send({ change: { kind: 'comment', text } })}
              />
            )}
          </Section>
        </div>
        <div>
          <Section title="State">
            <p>
              <StateSentence incident={incident} />
            </p>
          </Section>
          <Section title="Owner">
            <Owner
              incident={incident}
              onAssign={assignee => void send({ change: { kind: 'assign', assignee }, version: incident.version })}
            />
          </Section>
          <Section title="Alerts sent">
            <AlertsSent incident={incident} />
          </Section>
        </div>
      </div>
    </>
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

function titleOf({ action, summary, code }: IncidentWithTimeline): string {
  if (action === null) return summary
  const money = action.amount === null ? '' : ` of ${formatMoney(action.amount, action.currency ?? '')}`
  const about = `${kindWord(action)}${money}`
  if (code !== 'UNEXPECTED_ACTION') return `${INCIDENT_CODES.find(({ value }) => value === code)?.label}: ${about}`
  return action.verdict === 'unexplained'
    ? `Unexplained ${about.toLowerCase().replace(money.toLowerCase(), money)}`
    : about
}

function Under({ incident }: { incident: IncidentWithTimeline }) {
  const { state, opened_at, action, incident_id, storm_id, project_id } = incident
  const provider = action?.links?.provider ?? null
  return (
    <div className={classes.under}>
      <StateBadge state={state} />
      <span>
        <Time at={opened_at} />
      </span>
      {action?.mode === 'test' && <span>Test</span>}
      {action?.mode === 'live' && <span>Live</span>}
      {storm_id != null && (
        <Link className="link" to="/p/$project/storms/$id" params={{ project: project_id, id: storm_id }}>
          Part of a storm
        </Link>
      )}
      {action !== null && (
        <Link className="link" to="/p/$project/actions/$id" params={{ project: project_id, id: action.action_id }}>
          {kindWord(action)} in Backstop
        </Link>
      )}
      {provider?.startsWith('https://') === true && (
        <a className="link" href={provider} target="_blank" rel="noreferrer">
          Open at the provider ↗
        </a>
      )}
      <CopyId id={incident_id} />
    </div>
  )
}

function Loading() {
  return (
    <div className={classes.columns} aria-busy="true">
      <div className={classes.loading}>
        <Skeleton height={12} width="30%" />
        {['60%', '45%', '70%', '50%', '55%', '40%'].map(width => (
          <Skeleton key={width} height={12} width={width} />
        ))}
      </div>
      <div className={classes.loading}>
        <Skeleton height={12} width="40%" />
        <Skeleton height={12} width="80%" />
      </div>
    </div>
  )
}
