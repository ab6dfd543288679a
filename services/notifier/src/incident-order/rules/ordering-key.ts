import type { Alert } from '@backstop/contracts'

/** What keeps messages in order that belong together: one incident's, or else the alert alone. */
export function orderingKey(alert: Alert): string {
  return alert.event === 'incident.opened' || alert.event === 'incident.resolved'
    ? alert.data.incident.incident_id
    : alert.alert_id
}
