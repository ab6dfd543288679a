import type { Alert, Incident } from '@backstop/contracts'

/** True for an alert that is always a message of its own, never a line of a digest: the alarm of a burst or of a canary. */
export function isAlarm(alert: Alert): boolean {
  return alert.event === 'incident.opened' && isAboutAlarm(alert.data.incident)
}

/** True if quiet hours do not hold the alert: it is about a burst or a canary, or about the storm in which a burst continues. */
export function breaksQuietHours({ data }: Alert): boolean {
  if ('storm' in data) return data.storm.bursts !== undefined
  return 'incident' in data && isAboutAlarm(data.incident)
}

function isAboutAlarm({ burst, code }: Incident): boolean {
  return burst !== undefined || code === 'CANARY_USED'
}
