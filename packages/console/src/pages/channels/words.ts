import type { AlertChannel, Delivery } from '@backstop/client'

export type ChannelKind = AlertChannel['config']['kind']
export type ChannelEvent = AlertChannel['events'][number]
type Day = NonNullable<NonNullable<AlertChannel['quiet_hours']>['days']>[number]

export const KINDS: readonly { value: ChannelKind; label: string }[] = [
  { value: 'slack', label: 'Slack' },
  { value: 'email', label: 'E-mail' },
  { value: 'webhook', label: 'Webhook' },
  { value: 'pagerduty', label: 'PagerDuty' },
  { value: 'teams', label: 'Microsoft Teams' },
  { value: 'discord', label: 'Discord' },
]

export const EVENTS: readonly { value: ChannelEvent; label: string }[] = [
  { value: 'incident.opened', label: 'Incident opened' },
  { value: 'incident.acknowledged', label: 'Incident acknowledged' },
  { value: 'incident.resolved', label: 'Incident resolved' },
  { value: 'drift.detected', label: 'Provider differs from a report' },
  { value: 'approval.requested', label: 'Approval requested' },
  { value: 'approval.reminder', label: 'Approval reminder' },
  { value: 'approval.expired', label: 'Approval expired' },
  { value: 'cap.threshold', label: 'Budget threshold reached' },
  { value: 'run.failed', label: 'Run of your software failed' },
]

export const DAYS: readonly { value: Day; label: string }[] = [
  { value: 'mon', label: 'Mon' },
  { value: 'tue', label: 'Tue' },
  { value: 'wed', label: 'Wed' },
  { value: 'thu', label: 'Thu' },
  { value: 'fri', label: 'Fri' },
  { value: 'sat', label: 'Sat' },
  { value: 'sun', label: 'Sun' },
]

export const DELIVERY_STATES: readonly { value: Delivery['state']; label: string }[] = [
  { value: 'pending', label: 'Pending' },
  { value: 'delivered', label: 'Delivered' },
  { value: 'retrying', label: 'Retrying' },
  { value: 'dead', label: 'Not delivered' },
  { value: 'superseded', label: 'Superseded' },
]

export function nameKind(kind: ChannelKind): string {
  return KINDS.find(({ value }) => value === kind)?.label ?? kind
}

/** An event in words. Deliveries also have events that no channel selects, such as the report of a storm. */
export function nameEvent(event: string): string {
  const others: Record<string, string> = { 'storm.reported': 'Storm reported', 'channel.test': 'Test' }
  return EVENTS.find(({ value }) => value === event)?.label ?? others[event] ?? event
}

/** Where a channel sends to, as far as it is no secret. */
export function describeTarget(config: AlertChannel['config']): string {
  switch (config.kind) {
    case 'email':
      return config.to.join(', ')
    case 'webhook':
      return config.url
    case 'pagerduty':
      return new URL(config.events_url).hostname
    case 'slack':
    case 'teams':
    case 'discord':
      return 'Incoming webhook'
    default:
      return config satisfies never
  }
}
