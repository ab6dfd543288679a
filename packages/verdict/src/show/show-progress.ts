import { type Incident, isoTime, type StoredIncident, type TimelineEntry } from '@backstop/contracts'
import type { IncidentProgress, LifeCycle } from '../case/incident-record.ts'

type ShownProgress = Pick<
  Incident,
  | 'state'
  | 'acknowledged_at'
  | 'acknowledged_by'
  | 'assignee'
  | 'resolved_at'
  | 'resolved_by'
  | 'resolution'
  | 'reason'
  | 'note'
  | 'reopened'
>

/** The progress of an incident, as the API and alerts show it. */
export function showProgress({
  state,
  resolvedAt,
  resolvedBy,
  resolution,
  lifeCycle,
}: IncidentProgress): ShownProgress {
  return {
    state,
    acknowledged_at: lifeCycle?.acknowledged == null ? null : isoTime(lifeCycle.acknowledged.at),
    acknowledged_by: lifeCycle?.acknowledged?.by ?? null,
    assignee: lifeCycle?.assignee ?? null,
    resolved_at: resolvedAt === null ? null : isoTime(resolvedAt),
    resolved_by: resolvedBy,
    resolution,
    reason: lifeCycle?.reason ?? null,
    note: lifeCycle?.note ?? null,
    reopened: lifeCycle?.reopened ?? 0,
  }
}

/** The progress of an incident without a case, whose document is the only source. */
export function readProgress(incident: StoredIncident): IncidentProgress {
  const { state, resolved_at, resolved_by, resolution } = incident
  const lifeCycle = readLifeCycle(incident)
  if (state !== 'resolved') return { state, resolvedAt: null, resolvedBy: null, resolution: null, ...lifeCycle }
  const resolvedAt = Date.parse(resolved_at ?? incident.opened_at)
  return { state, resolvedAt, resolvedBy: resolved_by, resolution: resolution ?? 'Its cause ended', ...lifeCycle }
}

function readLifeCycle(incident: StoredIncident): { lifeCycle?: LifeCycle } {
  const { acknowledged_at, acknowledged_by, assignee, reason, note, reopened, changes } = incident
  if (changes === undefined) return {}
  const acknowledged =
    acknowledged_at == null ? null : { at: Date.parse(acknowledged_at), by: acknowledged_by ?? 'unknown' }
  return {
    lifeCycle: {
      acknowledged,
      assignee: assignee ?? null,
      reason: reason ?? null,
      note: note ?? null,
      reopened: reopened ?? 0,
      changes,
    },
  }
}

/** The changes of incidents as entries of a timeline. */
export function showChanges(lifeCycles: readonly (LifeCycle | undefined)[]): TimelineEntry[] {
  return lifeCycles.flatMap(lifeCycle =>
    (lifeCycle?.changes ?? []).map(({ command_id: _command, version: _version, ...entry }) => entry),
  )
}
