import type { IncidentWithTimeline } from '@backstop/client'
import { Button, Skeleton, Stack, Textarea } from '@mantine/core'
import { useInputState } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { connectionQuery } from '../../api/connections.ts'
import { incidentQuery } from '../../api/incidents.ts'
import { formatMoney } from '../../format/money.ts'
import { localizeTimes } from '../../format/times.ts'
import { DialogButton } from '../../parts/form/index.ts'
import { Marks, PageHead, Problem, ProjectLink, ThingPage, useAsked, useResourceId } from '../../parts/page/index.ts'
import { CopyId, StateBadge, Time } from '../../parts/show/index.ts'
import { useSession } from '../../session/session.ts'
import type { NextTime } from '../expected-changes/new-expected-change.tsx'
import { SilenceControl, SilenceDialog } from '../silences/silence-dialog.tsx'
import { AlertsSent } from './alerts-sent.tsx'
import { AskedDialog, useOpenAsked } from './asked-dialog.tsx'
import { BurstFacts, BurstOrigin } from './burst-facts.tsx'
import { Candidates } from './candidates.tsx'
import classes from './incident.module.css'
import { IncidentControls } from './incident-controls.tsx'
import { ActionFacts, Origin, OtherFacts, Repeat } from './incident-facts.tsx'
import { IncidentRace, StateSentence } from './incident-race.tsx'
import { IncidentTimeline } from './incident-timeline.tsx'
import { NextSteps, Section } from './next-steps.tsx'
import { Owner } from './owner.tsx'
import { type Change, useIncidentChange } from './use-incident-change.ts'
import { INCIDENT_CODES, kindWord } from './words.ts'

const NewExpectedChange = lazy(async () => ({
  default: (await import('../expected-changes/new-expected-change.tsx')).NewExpectedChange,
}))

const ABOVE = ['incidents', 'Incidents'] as const
const NOT_CHANGED: Record<Exclude<Change['kind'], 'comment'>, string> = {
  acknowledge: 'The incident was not acknowledged',
  resolve: 'The incident was not resolved',
  assign: 'The owner was not changed',
  reopen: 'The incident was not opened again',
}

export function Page() {
  const id = useResourceId()
  return (
    <ThingPage kind="Incident" above={ABOVE} query={useQuery(incidentQuery(id))} loading={<Loading />}>
      {incident => <Incident key={id} incident={incident} />}
    </ThingPage>
  )
}

interface Props {
  incident: IncidentWithTimeline
}
type Changes = ReturnType<typeof useIncidentChange>

function Incident({ incident }: Props) {
  const { may } = useSession()
  const changes = useIncidentChange(incident.incident_id)
  const { lost, error, failed, isPending, send, forget } = changes
  const { version } = incident
  const canWrite = may('incidents:write', incident.project_id)
  return (
    <>
      <PageHead
        title={titleOf(incident)}
        above={ABOVE}
        actions={canWrite && <IncidentControls incident={incident} changes={changes} />}
      >
        <Under incident={incident} />
      </PageHead>
      {lost !== undefined && lost.kind !== 'resolve' && (
        <div className="body" style={{ maxWidth: 720 }}>
          <IncidentRace
            incident={incident}
            lost={lost}
            isBusy={isPending}
            onKeepTheirs={forget}
            onApplyYours={() => void send({ change: lost, version })}
          />
        </div>
      )}
      <AskedDialog
        of={incident}
        stateSentence={<StateSentence incident={incident} />}
        write={changes}
        onAcknowledge={() => send({ change: { kind: 'acknowledge' }, version })}
      />
      {error !== null && failed !== undefined && failed !== 'comment' && (
        <Problem error={error} what={NOT_CHANGED[failed]} />
      )}
      <div className={classes.columns}>
        <Evidence incident={incident} changes={changes} canWrite={canWrite} />
        <div>
          <Section title="State">
            <p>
              <StateSentence incident={incident} />
            </p>
          </Section>
          <Section title="Owner">
            <Owner
              incident={incident}
              onAssign={assignee => void send({ change: { kind: 'assign', assignee }, version })}
            />
          </Section>
          <Section title="Alerts sent">
            <AlertsSent incident={incident} />
            <ConnectionSilence incident={incident} />
          </Section>
        </div>
      </div>
    </>
  )
}

/** Stops the alerts about the connection of an incident that is not resolved, or says that they are stopped. */
function ConnectionSilence({ incident }: Props) {
  const { project_id, connection_id, state } = incident
  const query = connectionQuery(project_id, connection_id ?? '')
  const { data } = useQuery({ ...query, enabled: connection_id !== null })
  const isAsked = useOpenAsked(incident) === 'silence'
  const { forget } = useAsked()
  if (data === undefined || data.status === 'deleted' || state === 'resolved') return null
  const reason = `While we look into: ${titleOf(incident)}`
  return (
    <>
      <SilenceControl connection={data} reason={reason} />
      {isAsked && <SilenceDialog connection={data} reason={reason} onClose={forget} />}
    </>
  )
}

/** Makes a bounded rule for further changes like an unexplained one, or like one that was ours. Nobody may expect a canary. */
function NextTimeButton({ incident }: { incident: NextTime }) {
  const { may } = useSession()
  const { action, code, reason, project_id } = incident
  const isOurs = action.verdict === 'unexplained' || reason === 'our_own_change'
  if (!isOurs || code === 'CANARY_USED' || !may('manage', project_id)) return null
  return (
    <DialogButton label="Expect this next time…" title="Expect this next time" variant="default" size="md">
      {close => (
        <Suspense fallback={<Loading />}>
          <NewExpectedChange close={close} next={incident} />
        </Suspense>
      )}
    </DialogButton>
  )
}

/** What is known of the incident, in the order in which people ask for it. */
function Evidence({ incident, changes, canWrite }: Props & { changes: Changes; canWrite: boolean }) {
  const { action, summary, burst } = incident
  return (
    <div>
      <Section title="What happened">
        {burst !== undefined ? (
          <BurstFacts incident={incident} burst={burst} />
        ) : action === null ? (
          <OtherFacts incident={incident} />
        ) : (
          <>
            <p className={classes.sentence} dir="auto">
              {localizeTimes(summary, action.provider_created_at)}.
            </p>
            <Repeat incident={incident} />
            <ActionFacts action={action} />
          </>
        )}
      </Section>
      {action !== null && (
        <Section title="How it was made">
          <Origin action={action} />
          <NextTimeButton incident={{ ...incident, action }} />
        </Section>
      )}
      {burst !== undefined && incident.connection_id !== null && (
        <Section title="What they have in common">
          <BurstOrigin burst={burst} connectionId={incident.connection_id} />
        </Section>
      )}
      <NextSteps incident={incident} />
      {action?.verdict === 'unexplained' && (
        <Section title="Why nothing explains it">
          <Candidates action={action} />
        </Section>
      )}
      <Section title="Timeline">
        <IncidentTimeline incident={incident} />
        {canWrite && <CommentForm changes={changes} />}
      </Section>
    </div>
  )
}

function CommentForm({ changes: { error, failed, send } }: { changes: Changes }) {
  const [text, setText] = useInputState('')
  const [isBusy, setIsBusy] = useState(false)
  const store = async () => {
    setIsBusy(true)
    const isStored = await send({ change: { kind: 'comment', text: text.trim() } })
    setIsBusy(false)
    if (isStored) setText('')
  }
  return (
    <form
      className={classes.comment}
      onSubmit={event => {
        event.preventDefault()
        if (text.trim() !== '') void store()
      }}
    >
      <Textarea
        aria-label="Comment"
        placeholder="Comment, for example what you found out"
        maxLength={1_000}
        value={text}
        onChange={setText}
      />
      {error !== null && failed === 'comment' && <Problem error={error} what="The comment was not stored" />}
      {text.trim() !== '' && (
        <Button type="submit" mt="sm" variant="default" loading={isBusy}>
          Comment
        </Button>
      )}
    </form>
  )
}

function titleOf({ action, summary, code, burst }: IncidentWithTimeline): string {
  if (burst !== undefined) return `Burst of ${burst.count.toLocaleString('en')} unexplained actions`
  if (action === null) return summary
  const money = action.amount === null ? '' : ` of ${formatMoney(action.amount, action.currency ?? '')}`
  const word = kindWord(action)
  if (code !== 'UNEXPECTED_ACTION')
    return `${INCIDENT_CODES.find(({ value }) => value === code)?.label}: ${word}${money}`
  return action.verdict === 'unexplained' ? `Unexplained ${word.toLowerCase()}${money}` : `${word}${money}`
}

function Under({ incident: { state, opened_at, action, incident_id, storm_id, burst } }: Props) {
  const provider = action?.links?.provider ?? null
  return (
    <div className="dim">
      <Marks>
        <StateBadge state={state} />
        <span>
          <Time at={opened_at} />
        </span>
        {action?.mode === 'test' && <span>Test</span>}
        {action?.mode === 'live' && <span>Live</span>}
        {storm_id != null && (
          <ProjectLink page="storms" id={storm_id}>
            {burst === undefined ? 'Part of a storm' : 'Its storm'}
          </ProjectLink>
        )}
        {action !== null && (
          <ProjectLink page="actions" id={action.action_id}>
            {kindWord(action)} in Backstop
          </ProjectLink>
        )}
        {provider?.startsWith('https://') === true && (
          <a className="link" href={provider} target="_blank" rel="noreferrer">
            Open at the provider ↗
          </a>
        )}
        <CopyId id={incident_id} />
      </Marks>
    </div>
  )
}

function Loading() {
  return (
    <div className={classes.columns} data-is-loading>
      <Stack gap="md" maw={560} pt={20}>
        <Skeleton height={12} width="30%" />
        {['60%', '45%', '70%', '50%', '55%', '40%'].map(width => (
          <Skeleton key={width} height={12} width={width} />
        ))}
      </Stack>
      <Stack gap="md" maw={560} pt={20}>
        <Skeleton height={12} width="40%" />
        <Skeleton height={12} width="80%" />
      </Stack>
    </div>
  )
}
