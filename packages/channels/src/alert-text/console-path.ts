import type { Alert } from '@backstop/contracts'

/** The path of the alert's page in the console; null if the alert has no page. */
export function consolePathOf(alert: Alert): string | null {
  const page = pageOf(alert)
  return page === null
    ? null
    : `/p/${encodeURIComponent(alert.project_id)}/${page.place}/${encodeURIComponent(page.id)}`
}

interface Page {
  readonly place: 'incidents' | 'storms' | 'operations' | 'actions' | 'budgets' | 'runs'
  readonly id: string
}

function pageOf(alert: Alert): Page | null {
  switch (alert.event) {
    case 'incident.opened':
    case 'incident.acknowledged':
    case 'incident.resolved':
      return { place: 'incidents', id: alert.data.incident.incident_id }
    case 'drift.detected':
      return alert.data.action === null
        ? { place: 'operations', id: alert.data.operation.operation_id }
        : { place: 'actions', id: alert.data.action.action_id }
    case 'approval.requested':
    case 'approval.reminder':
    case 'approval.expired':
      return { place: 'operations', id: alert.data.operation.operation_id }
    case 'cap.threshold':
      return { place: 'budgets', id: alert.data.budget.budget_id }
    case 'run.failed':
      return { place: 'runs', id: alert.data.run.run_id }
    case 'storm.reported':
      return { place: 'storms', id: alert.data.storm.storm_id }
    case 'channel.test':
      return null
    default:
      return alert satisfies never
  }
}
