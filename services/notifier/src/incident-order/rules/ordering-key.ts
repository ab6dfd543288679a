import type { Alert, IncidentEvent } from '@backstop/contracts'

/** The key of alerts that must keep their order: the incident or storm, or the alert itself if it has neither. A burst is part of its storm. */
export function orderingKey(alert: Alert): string {
  if (alert.event === 'storm.reported') return alert.data.storm.storm_id
  if (!isAboutIncident(alert)) return alert.alert_id
  const { incident_id, burst, storm_id } = alert.data.incident
  return burst === undefined ? incident_id : (storm_id ?? incident_id)
}

/** True if the alert is about an incident. */
export function isAboutIncident(alert: Alert): alert is Extract<Alert, { event: IncidentEvent }> {
  return 'incident' in alert.data
}
