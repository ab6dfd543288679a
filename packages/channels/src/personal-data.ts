import type { Action, Alert, Storm } from '@backstop/contracts'

/**
 * The alert without the name and e-mail address of the customer, and without the user who made the action. The customer's
 * id stays. Returns the same alert if it has no such data, because most deliveries of a flood go through here.
 */
export function withoutPersonalData(alert: Alert): Alert {
  switch (alert.event) {
    case 'incident.opened':
    case 'incident.resolved':
    case 'drift.detected': {
      const { action } = alert.data
      if (action === null || !hasPersonalData(action)) return alert
      // TypeScript does not see that `data` keeps the type of its event.
      return { ...alert, data: { ...alert.data, action: withoutPeople(action) } } as Alert
    }
    case 'storm.reported':
      return namesPeople(alert.data.storm)
        ? { ...alert, data: { ...alert.data, storm: stormWithoutPeople(alert.data.storm) } }
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

function hasPersonalData({ customer, origin }: Action): boolean {
  return (customer != null && (customer.name !== null || customer.email !== null)) || origin?.user != null
}

function withoutPeople(action: Action): Action {
  const { customer, origin } = action
  return {
    ...action,
    ...(customer == null ? {} : { customer: { ...customer, name: null, email: null } }),
    ...(origin == null ? {} : { origin: { ...origin, user: null } }),
  }
}

function namesPeople({ common: { customer, user } }: Storm): boolean {
  return (customer !== null && (customer.value.name !== null || customer.value.email !== null)) || user !== null
}

function stormWithoutPeople(storm: Storm): Storm {
  const { customer } = storm.common
  const unnamed = customer === null ? null : { ...customer, value: { ...customer.value, name: null, email: null } }
  return { ...storm, common: { ...storm.common, customer: unnamed, user: null } }
}
