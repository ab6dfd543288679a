import type { Alert } from '@backstop/contracts'

/** The connection that the alert is about; null if it is about none. */
export function connectionIdOf(alert: Alert): string | null {
  switch (alert.event) {
    case 'incident.opened':
    case 'incident.acknowledged':
    case 'incident.resolved':
      return alert.data.incident.connection_id
    case 'drift.detected':
    case 'approval.requested':
    case 'approval.reminder':
    case 'approval.expired':
      return alert.data.operation.connection_id
    case 'cap.threshold':
      return alert.data.budget.connection_id
    case 'storm.reported':
      return alert.data.storm.connection_id
    case 'run.failed':
    case 'channel.test':
      return null
    default:
      return alert satisfies never
  }
}
