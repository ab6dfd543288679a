import { type Action, type Alert, type Incident, showableText } from '@backstop/contracts'
import type { AlertDescription } from './alert-description.ts'
import { describeApproval, describeBudget, describeFailedRun } from './describe-ledger-alert.ts'
import { capitalise, formatTime, nameAction, PROVIDER_NAMES } from './wording.ts'

/**
 * Describes an alert in words. Control characters and direction marks in external texts are replaced by their code
 * points (for example `<U+202E>`), so that they cannot reverse or hide the text around them.
 */
export function describeAlert(alert: Alert): AlertDescription {
  const description = describeByEvent(alert)
  return {
    ...description,
    title: showableText(description.title),
    summary: showableText(description.summary),
    facts: description.facts.map(({ label, value }) => ({ label: showableText(label), value: showableText(value) })),
    reference: showableText(description.reference),
  }
}

function describeByEvent(alert: Alert): AlertDescription {
  switch (alert.event) {
    case 'channel.test':
      return {
        title: 'Test of this alert channel',
        summary: alert.data.text,
        facts: [],
        tone: 'neutral',
        path: null,
        reference: alert.data.channel_id,
      }
    case 'incident.opened':
    case 'incident.resolved':
      return describeIncident(alert)
    case 'drift.detected':
      return describeDrift(alert)
    case 'approval.requested':
    case 'approval.reminder':
    case 'approval.expired':
      return describeApproval(alert)
    case 'cap.threshold':
      return describeBudget(alert)
    case 'run.failed':
      return describeFailedRun(alert)
    default:
      return alert satisfies never
  }
}

type IncidentAlert = Extract<Alert, { event: 'incident.opened' | 'incident.resolved' }>

function describeIncident(alert: IncidentAlert): AlertDescription {
  const { incident, action, supersedes } = alert.data
  const opened = alert.event === 'incident.opened'
  const text = action === null ? textOfCode(incident) : textOfAction(action, incident.code)
  return {
    title: titleOf(text, opened, supersedes !== undefined),
    summary: incident.summary,
    facts: [
      ...text.facts,
      ...(incident.connection_id === null ? [] : [{ label: 'Connection', value: incident.connection_id }]),
      ...(action === null ? [] : [{ label: 'Time at the provider', value: formatTime(action.provider_created_at) }]),
      { label: 'Opened at', value: formatTime(incident.opened_at) },
      ...(incident.resolved_at === null ? [] : [{ label: 'Resolved at', value: formatTime(incident.resolved_at) }]),
      ...(incident.resolved_by === null ? [] : [{ label: 'Explained by', value: incident.resolved_by }]),
      { label: 'Incident', value: `${incident.incident_id} (${incident.code})` },
    ],
    tone: opened ? 'alarm' : 'relief',
    path: `/incidents/${encodeURIComponent(incident.incident_id)}`,
    reference: incident.incident_id,
  }
}

function describeDrift({
  data: { operation, action, differences },
}: Extract<Alert, { event: 'drift.detected' }>): AlertDescription {
  const what = nameAction(operation)
  const missing = differences.some(({ field }) => field === 'existence')
  return {
    title: missing ? `The provider does not know a ${what}` : `The provider's data differs on a ${what}`,
    summary: missing
      ? `Operation ${operation.operation_id} is reported as done, and the provider knows nothing of it`
      : `What the provider has on ${operation.subject} is not what operation ${operation.operation_id} said`,
    facts: [
      ...differences.map(({ field, operation_says, provider_says }) => ({
        label: capitalise(field),
        value: `operation: ${operation_says}, provider: ${provider_says}`,
      })),
      { label: 'Provider', value: PROVIDER_NAMES[operation.provider] },
      { label: operation.kind === 'refund' ? 'Payment' : 'Subscription', value: operation.subject },
      { label: 'Operation', value: operation.operation_id },
    ],
    tone: 'alarm',
    path: action === null ? null : `/actions/${encodeURIComponent(action.action_id)}`,
    reference: operation.operation_id,
  }
}

/** The headlines of an incident. */
interface IncidentText {
  /** The headline while the incident is open. */
  readonly opened: string
  /** The headline after "Resolved: ". */
  readonly resolved: string
  readonly facts: AlertDescription['facts']
}

/** @param reportsBoth true if this is the channel's first message about the incident, which is already resolved */
function titleOf({ opened, resolved }: IncidentText, isOpened: boolean, reportsBoth: boolean): string {
  if (isOpened) return opened
  return reportsBoth ? `Opened and resolved: ${resolved}` : `Resolved: ${resolved}`
}

function textOfAction(action: Action, code: Incident['code']): IncidentText {
  const what = nameAction(action)
  return {
    ...(code === 'REFUND_REJECTED'
      ? { opened: `Rejected: ${what}`, resolved: `the rejected ${what}` }
      : { opened: `Unexplained ${what}${describeState(action)}`, resolved: `the ${what} ${describeVerdict(action)}` }),
    facts: [
      { label: 'What', value: capitalise(what) },
      { label: 'Provider', value: PROVIDER_NAMES[action.provider] },
      { label: action.kind === 'refund' ? 'Payment' : 'Subscription', value: action.subject },
      ...(action.provider_ref === null ? [] : [{ label: 'Id at the provider', value: action.provider_ref }]),
    ],
  }
}

/** The state of a refund that has not succeeded. Without it a reader would believe that the money was paid. */
function describeState({ kind, state }: Action): string {
  return kind !== 'refund' || state === 'succeeded' ? '' : ` (${state.replaceAll('_', ' ')})`
}

function describeVerdict({ verdict, reason }: Action): string {
  if (verdict === 'explained') return 'is explained'
  if (reason === 'provider_denies_it') return 'did not go through'
  return verdict === 'not_alerted' ? 'needs no explanation' : 'is no longer followed up here'
}

/** The texts of an incident that is not about an action. */
function textOfCode({ code, channel_id }: Incident): IncidentText {
  switch (code) {
    case 'CHANNEL_DISABLED':
      return {
        opened: 'An alert channel was disabled',
        resolved: 'the alert channel works again',
        facts: typeof channel_id === 'string' ? [{ label: 'Channel', value: channel_id }] : [],
      }
    case 'VERIFICATION_UNAVAILABLE':
      return { opened: 'A connection cannot be verified', resolved: 'the connection can be verified again', facts: [] }
    case 'FEED_SILENT':
      return { opened: "A provider's notifications do not arrive", resolved: 'notifications arrive again', facts: [] }
    case 'REFUND_REJECTED':
      return { opened: 'A refund was rejected', resolved: 'the rejected refund', facts: [] }
    case 'UNEXPECTED_ACTION':
      return { opened: 'Unexplained action', resolved: 'the action is explained', facts: [] }
    default:
      return code satisfies never
  }
}
