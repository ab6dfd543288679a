import type { Action, Alert } from '@backstop/contracts'

/**
 * The alert without the name and e-mail address of the customer. The customer's id stays. Returns the same alert if it
 * has no such data, because most deliveries of a flood go through here.
 */
export function withoutPersonalData(alert: Alert): Alert {
  switch (alert.event) {
    case 'incident.opened':
    case 'incident.resolved':
    case 'drift.detected': {
      const { action } = alert.data
      if (action === null || !hasPersonalData(action)) return alert
      // TypeScript does not see that `data` keeps the type of its event.
      return { ...alert, data: { ...alert.data, action: withoutCustomerName(action) } } as Alert
    }
    case 'approval.requested':
    case 'approval.reminder':
    case 'approval.expired':
    case 'cap.threshold':
    case 'run.failed':
    case 'channel.test':
      return alert
    default:
      return alert satisfies never
  }
}

function hasPersonalData({ customer }: Action): boolean {
  return customer != null && (customer.name !== null || customer.email !== null)
}

function withoutCustomerName(action: Action): Action {
  return action.customer == null ? action : { ...action, customer: { ...action.customer, name: null, email: null } }
}
