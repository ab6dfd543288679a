import { hasEndedByItself } from '@backstop/contracts'
import type { ActionRecord } from '../case/action-record.ts'
import { type Case, withRecord } from '../case/case.ts'
import type { IncidentRecord } from '../case/incident-record.ts'
import { withIncidentMessages } from './incidents.ts'
import { type ChangeableIncident, type ChangeDecision, type ChangeIncident, changeIncident } from './life-cycle.ts'
import { whyEnded } from './refunded-twice.ts'

/** Changes that the incidents of one case keep, so that its document stays far below MongoDB's limit of 16 MB. */
const MAX_CHANGES_OF_CASE = 2_000

/** Decides a change of an incident of the case. @returns undefined if the case has no such incident */
export function decideInCase(theCase: Case, command: ChangeIncident, now: number): ChangeDecision | undefined {
  const found = findIncident(theCase, command.incident_id)
  return found === undefined ? undefined : changeIncident(changeableOf(theCase, found), command, now)
}

/** The case with the change. A repeated or refused change, and one of an incident of another case, changes nothing. */
export function changeIncidentOfCase(theCase: Case, command: ChangeIncident, now: number): Case {
  const found = findIncident(theCase, command.incident_id)
  const decision = decideInCase(theCase, command, now)
  if (found === undefined || decision?.kind !== 'changed') return theCase
  const { record, incident } = found
  const changed: IncidentRecord = { ...incident, ...decision.progress }
  const incidents = record.incidents.map(known => (known.id === changed.id ? changed : known))
  const next: ActionRecord = { ...record, incidents }
  return withIncidentMessages(withRecord(theCase, next), next, changed, decision.event, now)
}

interface FoundIncident {
  readonly record: ActionRecord
  readonly incident: IncidentRecord
}

function findIncident(theCase: Case, incidentId: string): FoundIncident | undefined {
  for (const record of theCase.actions) {
    const incident = record.incidents.find(({ id }) => id === incidentId)
    if (incident !== undefined) return { record, incident }
  }
  return undefined
}

function changeableOf(theCase: Case, { record, incident }: FoundIncident): ChangeableIncident {
  const last = incident.lifeCycle?.changes.at(-1)
  const count = theCase.actions
    .flatMap(({ incidents }) => incidents)
    .reduce((sum, { lifeCycle }) => sum + (lifeCycle?.changes.length ?? 0), 0)
  return {
    id: incident.id,
    progress: incident,
    // The record is stamped at the end of a batch, so an earlier change of the same batch shows only in its entry.
    version: Math.max(record.changedIn, last?.version ?? 0),
    nextVersion: theCase.version,
    cannotOpen: whyCannotOpen(theCase, record, incident),
    room: MAX_CHANGES_OF_CASE - count,
  }
}

function whyCannotOpen(theCase: Case, record: ActionRecord, incident: IncidentRecord): string | null {
  const { verdict, operationId } = record
  const { code, state, lifeCycle } = incident
  if (code === 'REFUNDED_TWICE') {
    const isOver =
      hasEndedByItself({ state, reason: lifeCycle?.reason }) || whyEnded(theCase, record, incident) !== null
    return isOver ? 'One of the two refunds no longer counts, so the incident cannot be opened again' : null
  }
  if (code !== 'UNEXPECTED_ACTION' || verdict === 'unexplained') return null
  if (verdict !== 'explained') return 'The action is not unexplained any more, so its incident cannot be opened again'
  const by = operationId === null ? '' : ` by operation ${operationId}`
  return `The action is explained${by}, so its incident cannot be opened again`
}
