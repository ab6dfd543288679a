import { hasEndedByItself, type Names, type StoredIncident } from '@backstop/contracts'
import { readProgress, showProgress } from '../show/show-progress.ts'
import { type ChangeDecision, type ChangeIncident, changeIncident, MAX_CHANGES } from './life-cycle.ts'
import { type IncidentChange, incidentMessages } from './standalone.ts'

/** The decision about an incident without a case, and the write to do if it is changed. */
export interface StandaloneDecision {
  readonly decision: ChangeDecision
  readonly change: IncidentChange | null
}

/** Decides a change of an incident that is not about an action. */
export function changeStandalone(
  known: StoredIncident,
  command: ChangeIncident,
  now: number,
  names: Names,
): StandaloneDecision {
  const { version } = known
  const decision = changeIncident(
    {
      id: known.incident_id,
      progress: readProgress(known),
      version,
      nextVersion: version + 1,
      cannotOpen: hasEndedByItself(known) ? 'The cause of the incident has ended, so it cannot be opened again' : null,
      room: MAX_CHANGES,
    },
    command,
    now,
  )
  if (decision.kind !== 'changed') return { decision, change: null }
  const { progress, event } = decision
  const incident: StoredIncident = {
    ...known,
    ...showProgress(progress),
    version: version + 1,
    changes: progress.lifeCycle?.changes ?? [],
  }
  return { decision, change: { incident, entries: incidentMessages(incident, event, now, names) } }
}
