import type { Action, Incident } from '@backstop/client'
import type { api } from '../../api/client.ts'
import type { ListedIncident } from '../../api/incidents.ts'

/** What `POST /v1/incidents/{id}/resolve` takes. */
export type Resolution = Parameters<typeof api.incidents.resolve>[1]

/** The reasons that a person can give, in the order in which the dialog offers them. */
export const RESOLVE_REASONS = [
  {
    value: 'our_own_change',
    label: 'This was us',
    about: 'Somebody in the team or one of our programs made it. A refund or cancellation becomes “explained”.',
  },
  { value: 'fraud_or_leaked_key', label: 'Fraud or leaked key', about: 'Somebody who must not do this made it.' },
  {
    value: 'provider_mistake',
    label: 'Mistake of the provider',
    about: 'The provider made it, or reported it wrongly.',
  },
  { value: 'duplicate', label: 'Duplicate', about: 'Another incident is about the same change.' },
  { value: 'other', label: 'Other', about: 'Say why in the note.' },
] as const satisfies readonly { value: Resolution['reason']; label: string; about: string }[]

const REASON_WORDS: Record<NonNullable<Incident['reason']>, string> = {
  our_own_change: 'this was us',
  fraud_or_leaked_key: 'fraud or leaked key',
  provider_mistake: 'mistake of the provider',
  duplicate: 'duplicate',
  other: 'other reason',
  connection_deleted: 'the connection was deleted',
}

/** The outcome of a resolved incident: a person's reason, or what ended its cause. */
export function resolutionOf({ reason, resolution }: Pick<Incident, 'reason' | 'resolution'>): string | undefined {
  if (reason != null) return REASON_WORDS[reason]
  return resolution ?? undefined
}

const KINDS: Record<Action['kind'], string> = {
  refund: 'Refund',
  cancellation: 'Cancellation',
  pause: 'Pause',
  resume: 'Resumption',
  schedule_removal: 'Removal of a scheduled change',
  dispute: 'Dispute',
  credit: 'Credit',
  reversal: 'Reversal',
}

export function kindWord({ kind, authorization_released }: Pick<Action, 'kind' | 'authorization_released'>): string {
  return authorization_released ? 'Release of an authorization' : KINDS[kind]
}

/** The noun for the subject of an action. */
export function subjectWord({ kind }: Pick<Action, 'kind'>): string {
  return kind === 'refund' || kind === 'dispute' || kind === 'credit' || kind === 'reversal'
    ? 'Payment'
    : 'Subscription'
}

export const PROVIDERS: Record<Action['provider'], string> = {
  processor: 'card processor',
  reseller: 'reseller',
  subscription: 'subscription biller',
}

/** How an action was made, in words. */
export function originSentence({ origin }: Pick<Action, 'origin'>): string {
  const { channel = null, key_name: key = null, user = null } = origin ?? {}
  switch (channel) {
    case 'api':
      return key === null ? 'With an API key. The provider does not say which one.' : `With the API key “${key}”.`
    case 'dashboard':
      return user === null
        ? 'By a person in the dashboard of the provider. The provider does not say who.'
        : `By ${user} in the dashboard of the provider.`
    case 'automatic':
      return 'By the provider itself.'
    case 'hosted_page':
      return 'By the customer, on a page of the provider.'
    case null:
      return user === null ? 'The provider does not say how it was made.' : `By ${user}. The provider does not say how.`
    default:
      return channel satisfies never
  }
}

const CHANNELS = { api: 'API key', dashboard: 'Dashboard', automatic: 'Provider', hosted_page: 'Customer' } as const

/** How the action of an incident was made, in a word for lists: the name of its actor if there is one. */
export function madeBy({ action, actor_name, burst }: ListedIncident): string | undefined {
  const { channel, key_name, user } = action?.origin ?? {}
  const name = actor_name ?? burst?.common?.actor?.name ?? key_name ?? user
  return name ?? (channel == null ? undefined : CHANNELS[channel])
}

/** The kinds of incidents in words. */
export const INCIDENT_CODES = [
  { value: 'UNEXPECTED_ACTION', label: 'Unexplained refund or cancellation' },
  { value: 'CHANNEL_DISABLED', label: 'Channel disabled' },
  { value: 'CHANNEL_FAILING', label: 'Channel delivers nothing' },
  { value: 'REFUND_REJECTED', label: 'Refund rejected' },
  { value: 'REFUNDED_TWICE', label: 'Refunded twice' },
  { value: 'CANARY_USED', label: 'Canary used' },
  { value: 'UNEXPLAINED_BURST', label: 'Burst of unexplained actions' },
  { value: 'VERIFICATION_UNAVAILABLE', label: 'Provider cannot be read' },
  { value: 'FEED_SILENT', label: 'Feed silent' },
  { value: 'KEY_EXPIRING', label: 'API key expires' },
  { value: 'KEY_RECOVERED', label: 'Admin key recovered' },
] as const

export function codeWord(code: Incident['code']): string {
  return INCIDENT_CODES.find(({ value }) => value === code)?.label ?? code
}
