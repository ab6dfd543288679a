import type { Alert } from '@backstop/contracts'

/** The path of the alert's page in the console; null if the alert has no page. */
export function consolePathOf(alert: Alert): string | null {
  switch (alert.event) {
    case 'incident.opened':
    case 'incident.resolved':
      return `/incidents/${encodeURIComponent(alert.data.incident.incident_id)}`
    case 'drift.detected':
      return alert.data.action === null ? null : `/actions/${encodeURIComponent(alert.data.action.action_id)}`
    case 'approval.requested':
    case 'approval.reminder':
    case 'approval.expired':
      return `/operations/${encodeURIComponent(alert.data.operation.operation_id)}`
    case 'cap.threshold':
      return `/budgets/${encodeURIComponent(alert.data.budget.budget_id)}`
    case 'run.failed':
      return `/runs/${encodeURIComponent(alert.data.run.run_id)}`
    case 'storm.reported':
      return `/storms/${encodeURIComponent(alert.data.storm.storm_id)}`
    case 'channel.test':
      return null
    default:
      return alert satisfies never
  }
}
