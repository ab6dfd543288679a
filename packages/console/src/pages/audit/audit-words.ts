import type { AuditRow } from '../../api/system.ts'

const THINGS: Record<string, string> = {
  alert_channel: 'channel',
  channel: 'channel',
  api_key: 'API key',
  sign_in_link: 'sign-in link',
}
const DONE: Record<string, string> = {
  create: 'created',
  change: 'changed',
  delete: 'deleted',
  remove: 'removed',
  end: 'ended',
  revoke: 'revoked',
  rotate: 'rotated',
  recover: 'recovered',
  archive: 'archived',
  restore: 'restored',
  erase: 'erased',
  finish: 'finished',
  replay: 'replayed',
  resolve: 'resolved',
  acknowledge: 'acknowledged',
  assign: 'assigned',
  reopen: 'reopened',
  comment: 'commented',
  approve: 'approved',
  decline: 'declined',
  test: 'tested',
  retry: 'retried',
  fail: 'reported as failed',
}

/** The action of a row in words: `alert_channel.create` is `Channel created`. An unknown verb is shown as it is. */
export function describeAction({ action, count }: Pick<AuditRow, 'action' | 'count'>): string {
  const [thing = '', verb] = action.split('.')
  if (thing === 'refused' && verb !== undefined) {
    const times = count !== undefined && count > 1 ? `, ${count} times` : ''
    return `Refused: ${verb.replaceAll('_', ' ')}${times}`
  }
  const named = THINGS[thing] ?? thing.replaceAll('_', ' ')
  const text = verb === undefined ? named : `${named} ${DONE[verb] ?? verb.replaceAll('_', ' ')}`
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** What an erasure of personal data erased. The numbers of actions and deliveries are known of a customer only. */
export function describeErased({ cases, actions, bodies, deliveries }: NonNullable<AuditRow['erased']>): string {
  const counts = { cases, actions, 'raw bodies': bodies, deliveries }
  return Object.entries(counts)
    .flatMap(([name, count]) => (count === undefined ? [] : [`${count} ${name}`]))
    .join(', ')
}

/** A value of a changed field as text. */
export function showValue(value: unknown): string {
  if (value === null || value === undefined) return 'none'
  if (typeof value === 'string') return value === '' ? 'empty' : value
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return typeof value === 'number' ? String(value) : JSON.stringify(value, null, 1)
}
