import type { Connection } from '@backstop/client'
import type { InboxOutcome } from '../../api/connections.ts'

export type Mode = Connection['out_of_band']

/** What `out_of_band` means, for people. */
export const MODES: readonly { value: Mode; label: string; meaning: string }[] = [
  {
    value: 'auto',
    label: 'After the first report',
    meaning: 'Alerts once your software has reported that it executes an operation.',
  },
  { value: 'alert', label: 'Always', meaning: 'Always alerts about what nothing explains.' },
  { value: 'ignore', label: 'Never', meaning: 'Never alerts about what nothing explains.' },
]

export function labelOfMode(mode: Mode): string {
  return MODES.find(({ value }) => value === mode)?.label ?? mode
}

/** The choices for `refunded_twice_within_hours`. Without hours the rule is off. */
export const REPEAT_HOURS = [
  { value: '', label: 'Off' },
  { value: '1', label: 'Within an hour' },
  { value: '24', label: 'Within a day' },
  { value: '168', label: 'Within 7 days' },
  { value: '720', label: 'Within 30 days' },
]

export const PROVIDER_NAMES: Record<Connection['kind'], string> = {
  processor: 'Stripe',
  reseller: 'Paddle',
  subscription: 'Chargebee',
}

export const PROVIDERS: Record<Connection['kind'], string> = {
  processor: 'Card processor (Stripe)',
  reseller: 'Reseller (Paddle)',
  subscription: 'Subscription biller (Chargebee)',
}

/** What the outcome of an event means, and what to do about it. */
export const OUTCOMES: Record<InboxOutcome, { label: string; remedy?: string }> = {
  recorded: { label: 'Recorded' },
  ignored: { label: 'Ignored' },
  hinted: { label: 'Provider asked' },
  held: {
    label: 'Held',
    remedy: 'Store a read-only key of the provider below. Held events are then decided by themselves.',
  },
  parked: {
    label: 'Refused',
    remedy: 'Backstop could not use these events. Compare their body with the reason; after an update, replay them.',
  },
}

export function readingText({ reading, kind, status }: Pick<Connection, 'reading' | 'kind' | 'status'>): string {
  switch (reading.state) {
    case 'off':
      if (status === 'needs_setup') return 'Not read: the setup is incomplete'
      return kind === 'subscription' ? 'Not read: a read-only key is missing' : 'Not read: there is no read-only key'
    case 'pending':
      return 'Not yet read with this key'
    case 'healthy':
      return 'Can be read'
    case 'failing':
      return 'Cannot be read'
    default:
      return reading.state satisfies never
  }
}
