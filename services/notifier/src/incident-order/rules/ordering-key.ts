import type { Alert, IncidentEvent } from '@backstop/contracts'

/** The key of alerts that must keep their order: the incident or storm, or the alert itself if it has neither. */
export function orderingKey(alert: Alert): string {
  if (alert.event === 'storm.reported') return alert.data.storm.storm_id
  return isAboutIncident(alert) ? alert.data.incident.incident_id : alert.alert_id
}

/** True if the alert is about an incident. */
export function isAboutIncident(alert: Alert): alert is Extract<Alert, { event: IncidentEvent }> {
  return 'incident' in alert.data
}
