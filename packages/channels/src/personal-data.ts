import type { Action, Alert, Storm } from '@backstop/contracts'

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
    case 'storm.reported':
      return hasNameOfCustomer(alert.data.storm)
        ? { ...alert, data: { ...alert.data, storm: withoutNameOfCustomer(alert.data.storm) } }
        : alert
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

function hasNameOfCustomer({ common }: Storm): boolean {
  return common.customer !== null && (common.customer.value.name !== null || common.customer.value.email !== null)
}

function withoutNameOfCustomer(storm: Storm): Storm {
  const { customer } = storm.common
  if (customer === null) return storm
  const value = { ...customer.value, name: null, email: null }
  return { ...storm, common: { ...storm.common, customer: { ...customer, value } } }
}
