import { type Action, formatMoney, type Incident } from '@backstop/contracts'
import { type ActionRecord, type IncidentRecord, openIncident, type Subject } from './subject.ts'
import { isoTime } from './timeline.ts'
import { deedsOf, whyOf } from './why.ts'

/**
 * The action as lists, alerts and the API show it.
 * @param deeds the subject's operations, for whoever projects many actions
 */
export function projectAction(subject: Subject, action: ActionRecord, deeds = deedsOf(subject)): Action {
  return {
    action_id: action.id,
    project_id: subject.projectId,
    connection_id: action.seenThrough[0]?.id ?? '',
    connection_ids: action.seenThrough.map(connection => connection.id),
    provider: action.provider,
    kind: action.kind,
    subject: action.subject,
    provider_ref: action.providerRef,
    amount: action.amount,
    currency: action.currency,
    state: action.state,
    provider_created_at: isoTime(action.providerCreatedAt),
    first_seen_at: isoTime(action.firstSeenAt),
    second_look_at: action.look === null ? null : isoTime(action.look.dueAt),
    verdict: action.verdict,
    reason: action.reason,
    operation_id: action.operationId,
    why: whyOf(subject, action, deeds),
    ...(action.differences.length > 0 ? { differences: [...action.differences] } : {}),
    incident_id: (openIncident(action) ?? action.incidents.at(-1))?.id ?? null,
    event_ids: [...action.eventIds],
    timeline: [...action.timeline],
    version: subject.version,
  }
}

/** An action as it is listed; one that turned out to be another's leads on to that one. */
export interface ProjectedAction {
  readonly action: Action
  readonly mergedInto: string | null
  /** Nothing was known of it before: most likely it is not listed yet. */
  readonly isNew: boolean
  /** Its verdict, reason or operation is another than before. */
  readonly isDecided: boolean
}

/**
 * Everything that a subject shows of its actions.
 * @param before the subject as it was read; left out for one that is new
 */
export function projectActions(subject: Subject, before?: Subject | undefined): readonly ProjectedAction[] {
  const knownById = new Map(before?.actions.map(action => [action.id, action]))
  const deeds = deedsOf(subject)
  const project = (record: ActionRecord, mergedInto: string | null): ProjectedAction => {
    const known = knownById.get(record.id)
    return {
      action: projectAction(subject, record, deeds),
      mergedInto,
      isNew: known === undefined && mergedInto === null,
      isDecided: mergedInto === null && !hasSameVerdict(record, known),
    }
  }
  return [
    ...subject.actions.map(action => project(action, null)),
    ...subject.merged.map(({ record, into }) => project(record, into)),
  ]
}

function hasSameVerdict(a: ActionRecord, b: ActionRecord | undefined): boolean {
  return a.verdict === b?.verdict && a.reason === b.reason && a.operationId === b.operationId
}

/** Everything that a subject shows of its incidents. */
export function projectIncidents(subject: Subject): readonly Incident[] {
  return subject.actions.flatMap(action => action.incidents.map(incident => projectIncident(subject, action, incident)))
}

/** The incident of an action as lists, alerts and the API show it. */
export function projectIncident(subject: Subject, action: ActionRecord, incident: IncidentRecord): Incident {
  return {
    incident_id: incident.id,
    project_id: subject.projectId,
    connection_id: incident.connectionId,
    code: incident.code,
    state: incident.state,
    summary: summaryOf(action, incident),
    action_id: action.id,
    out_of_band: incident.outOfBand,
    opened_at: isoTime(incident.openedAt),
    resolved_at: incident.resolvedAt === null ? null : isoTime(incident.resolvedAt),
    resolved_by: incident.resolvedBy,
    version: subject.version,
  }
}

/** What happened, in one sentence for a person. */
function summaryOf(action: ActionRecord, { code, resolution }: IncidentRecord): string {
  const money = formatMoney(action.amount, action.currency)
  const what = `A ${action.kind}${money === null ? '' : ` of ${money}`} on ${action.subject}`
  if (code === 'REFUND_REJECTED') {
    return `${what} that operation ${action.operationId} made was refused by the provider's review: no money moved`
  }
  if (resolution === null) return `${what} was made at the provider, and no operation of yours explains it`
  return `${what} is explained after all: ${resolution.charAt(0).toLowerCase()}${resolution.slice(1)}`
}
