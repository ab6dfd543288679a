import type { Alert } from '@backstop/contracts'

/** The key of alerts that must keep their order: the incident, or the alert itself if it has no incident. */
export function orderingKey(alert: Alert): string {
  return alert.event === 'incident.opened' || alert.event === 'incident.resolved'
    ? alert.data.incident.incident_id
    : alert.alert_id
}
