import type { Alert } from '@backstop/contracts'

/** True for the alert that a burst goes on at this moment. It is a message of its own, never a line of a digest. */
export function isBurstAlarm(alert: Alert): boolean {
  return alert.event === 'incident.opened' && alert.data.incident.burst !== undefined
}

/** True if quiet hours do not hold the alert: it is about a burst, or about the storm in which a burst continues. */
export function breaksQuietHours({ data }: Alert): boolean {
  if ('storm' in data) return data.storm.bursts !== undefined
  return 'incident' in data && data.incident.burst !== undefined
}
