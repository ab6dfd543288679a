import {
  type Actor,
  deterministicId,
  type IncidentOutcomeDocument,
  type LifeCycleChange,
  type StormDocument,
  type StormOverview,
} from '@backstop/contracts'
import { AppError } from '@backstop/kit/errors'
import type { AdminParts } from '../../parts.ts'
import { countStorm, readIncidents } from '../storms/read-storm.ts'
import { addIncident, EMPTY_COUNT, showStorm } from '../storms/rules/storm.ts'
import { type RequestedChange, requestChanges, requireChanged } from './request-changes.ts'
import { allowsChange } from './rules/incident.ts'

/** Changes that are requested at once. */
const AT_ONCE = 500

/** The fields that decide whether an incident is changed. Without the others, a large storm takes less memory. */
const FIELDS = ['state', 'reason', 'changes'] as const

/** The id of the command for one incident of a storm. */
function commandIdOf(commandId: string, incidentId: string): string {
  return deterministicId('command', commandId, incidentId)
}

/** The ids of the incidents of a storm that a change applies to, those that an earlier attempt of the same request changed included. */
export async function incidentsToChange(
  { stores }: Pick<AdminParts, 'stores'>,
  storm: StormDocument,
  { kind }: LifeCycleChange,
  commandId: string,
  signal: AbortSignal,
): Promise<string[]> {
  const found: string[] = []
  let count = EMPTY_COUNT
  for await (const batch of readIncidents(stores, [storm], FIELDS, signal)) {
    for (const { member, incident } of batch) {
      count = addIncident(count, member, incident.state)
      const { _id, changes = [] } = incident
      const isDone = changes.some(({ command_id }) => command_id === commandIdOf(commandId, _id))
      if (isDone || allowsChange(incident, kind)) found.push(_id)
    }
  }
  if (found.length > 0) return found
  const { state } = showStorm(storm, count)
  throw new AppError('incident_state', `The storm is ${state}: none of its incidents allows the change`)
}

/**
 * Changes every incident of a storm that allows it.
 * @throws AppError `incident_state` if none could be changed
 */
export async function changeStorm(
  parts: Pick<AdminParts, 'commands' | 'outcomes' | 'stores'>,
  storm: StormDocument,
  incidentIds: readonly string[],
  change: LifeCycleChange,
  from: { readonly commandId: string; readonly actor: Actor; readonly now: Date; readonly signal: AbortSignal },
): Promise<StormOverview> {
  const projectId = storm.project_id
  const changes: RequestedChange[] = incidentIds.map(incidentId => ({
    commandId: commandIdOf(from.commandId, incidentId),
    incidentId,
    change,
  }))
  const outcomes: IncidentOutcomeDocument[] = []
  for (let at = 0; at < changes.length; at += AT_ONCE) {
    outcomes.push(...(await requestChanges(parts, changes.slice(at, at + AT_ONCE), { ...from, projectId })).values())
  }
  // Somebody else may have changed some of them meanwhile.
  if (outcomes.every(({ outcome }) => outcome === 'refused')) requireChanged(outcomes[0], false)
  return showStorm(storm, await countStorm(parts.stores, storm))
}
