import { type Alert, type Burst, type IncidentEvent, type StormDocument, stormScopeOf } from '@backstop/contracts'
import { newStorm } from './new-storm.ts'
import { confirmedAtMs } from './report-schedule.ts'

/** A burst, with the storm in which its actions continue. */
export interface BurstOfAlert extends Pick<Burst, 'provider' | 'looks_at' | 'outcome'> {
  readonly event: IncidentEvent
  readonly project_id: string
  /** The scope of its storm (stormScopeOf). */
  readonly connection_id: string
  readonly incident_id: string
  readonly storm_id: string
  readonly opened_at: string
  readonly count: number
  /** True if the incident opened for the first time, so its storm begins. */
  readonly isNew: boolean
}

/** @returns undefined if the alert is about something else */
export function burstOfAlert(alert: Alert): BurstOfAlert | undefined {
  if (!('incident' in alert.data)) return undefined
  const { burst, storm_id, connection_id, incident_id, opened_at, reopened = 0 } = alert.data.incident
  if (burst === undefined || storm_id == null || connection_id === null) return undefined
  const { provider, looks_at, outcome, count, account, accounts } = burst
  return {
    event: alert.event as IncidentEvent,
    project_id: alert.project_id,
    connection_id: stormScopeOf(connection_id, account ?? (accounts === undefined ? undefined : '')),
    incident_id,
    storm_id,
    opened_at,
    count,
    provider,
    looks_at,
    outcome,
    isNew: alert.event === 'incident.opened' && reopened === 0,
  }
}

/** The storm that a burst begins. It has no member until the first second look, and its first report confirms the burst. */
export function stormOfBurst(burst: BurstOfAlert, nowMs: number): StormDocument {
  const { incident_id, opened_at, count } = burst
  const from = new Date(confirmedAtMs(Date.parse(burst.looks_at)))
  return {
    ...newStorm(burst.storm_id, burst, nowMs, nowMs),
    bursts: [{ incident_id, opened_at, count }],
    reports_from: from,
    next_look_at: from,
  }
}
