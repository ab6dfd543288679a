import type { Alert } from '@backstop/contracts'

/** The key of alerts that must keep their order: the incident or storm, or the alert itself if it has neither. */
export function orderingKey(alert: Alert): string {
  if (alert.event === 'storm.reported') return alert.data.storm.storm_id
  return alert.event === 'incident.opened' || alert.event === 'incident.resolved'
    ? alert.data.incident.incident_id
    : alert.alert_id
}
