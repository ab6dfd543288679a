import type { Action } from '@backstop/client'
import type { api } from '../../api/client.ts'
import { decimalAmount, parseMoney } from '../../format/money.ts'

/** The body of a request for a new expected change. */
export type Body = Parameters<typeof api.expectedChanges.create>[0]

export const EMPTY = {
  kind: 'refund' as Body['kind'],
  note: '',
  connectionId: '',
  subject: '',
  customerId: '',
  actorId: '',
  interval: '' as NonNullable<Body['interval']> | '',
  count: '1' as string | number,
  currency: '',
  amount: '',
  total: '',
  endsIn: '86400',
}
export type Fields = typeof EMPTY

export const DURATIONS = [
  { value: '3600', label: 'In an hour' },
  { value: '86400', label: 'In a day' },
  { value: '604800', label: 'In a week' },
  { value: '2592000', label: 'In 30 days' },
]
/** Only with limits that apply to each interval. */
export const LONG_DURATIONS = [
  { value: '7776000', label: 'In 90 days' },
  { value: '15552000', label: 'In 180 days' },
  { value: '31536000', label: 'In a year' },
]

export type Scope = 'actor' | 'customer' | 'subject'

/** The customer of an action that a rule can name. The API refuses ids that contain an e-mail address, because they are erased. */
function customerIdOf({ customer }: Action): string {
  return customer?.id?.includes('@') ? '' : (customer?.id ?? '')
}

/** Whose further changes can be expected, the most probable first. A rule for everybody would hide what others do. */
export function scopesOf(action: Action): { value: Scope; label: string }[] {
  const { actor_id, actor_name, customer, kind } = action
  const customerId = customerIdOf(action)
  const thing = kind === 'cancellation' ? 'subscription' : 'payment'
  return [
    ...(actor_id === undefined
      ? []
      : [{ value: 'actor' as const, label: `Made by ${actor_name ?? 'the same key or person'}` }]),
    ...(customerId === ''
      ? []
      : [{ value: 'customer' as const, label: `Of the same customer, ${customer?.name ?? customerId}` }]),
    { value: 'subject', label: `Of the same ${thing}` },
  ]
}

/** The fields for further changes like this action: as much money in each week for 90 days, or one more of the same payment within a day. */
export function fieldsLike(action: Action, scope: Scope = scopesOf(action)[0]?.value ?? 'subject'): Partial<Fields> {
  const { kind, connection_id, actor_id = '', subject, amount, currency } = action
  const isOfSomebody = scope !== 'subject'
  return {
    kind: kind === 'cancellation' ? kind : 'refund',
    connectionId: connection_id,
    actorId: scope === 'actor' ? actor_id : '',
    customerId: scope === 'customer' ? customerIdOf(action) : '',
    subject: scope === 'subject' ? subject : '',
    interval: isOfSomebody ? 'week' : '',
    count: isOfSomebody && kind !== 'cancellation' ? '' : '1',
    ...(amount === null || currency === null
      ? {}
      : { currency: currency.toUpperCase(), total: decimalAmount(amount, currency) }),
    endsIn: isOfSomebody ? '7776000' : '86400',
  }
}

/** The next whole second: an expected change covers all of the second in which it begins, and must not cover this action. */
export function startAfter({ provider_created_at }: Action): string {
  return new Date((Math.floor(Date.parse(provider_created_at) / 1_000) + 1) * 1_000).toISOString()
}

/** The body of the request, or what is missing. */
export function bodyOf(fields: Fields, project_id: string): Body | string {
  const { kind, note, connectionId, subject, interval, currency, amount, total, endsIn } = fields
  const [count, customerId, actorId] = [Number(fields.count), fields.customerId.trim(), fields.actorId.trim()]
  if (note.trim() === '') return 'Say why'
  const mayLeaveOutCount = interval !== '' && kind === 'refund' && total.trim() !== ''
  const isCount = Number.isInteger(count) && count >= 1
  if (!isCount && !(mayLeaveOutCount && fields.count === '')) return 'Say how many'
  if (customerId !== '' && connectionId === '') return 'Choose the connection of the customer'
  if (interval === '' && LONG_DURATIONS.some(({ value }) => value === endsIn)) return 'Choose an end within 30 days'
  const hasMoney = kind === 'refund' && (amount.trim() !== '' || total.trim() !== '')
  const each = hasMoney && amount.trim() !== '' ? parseMoney(amount, currency) : undefined
  const most = hasMoney && total.trim() !== '' ? parseMoney(total, currency) : undefined
  if (hasMoney && !/^[A-Z]{3}$/.test(currency)) return 'Give the currency, for example EUR'
  if (hasMoney && amount.trim() !== '' && each === undefined) return `“${amount}” is no amount of ${currency}`
  if (hasMoney && total.trim() !== '' && most === undefined) return `“${total}” is no amount of ${currency}`
  return {
    project_id,
    kind,
    note: note.trim(),
    ...(fields.count === '' ? {} : { max_changes: count }),
    expires_in_seconds: Number(endsIn),
    ...(connectionId === '' ? {} : { connection_id: connectionId }),
    ...(subject.trim() === '' ? {} : { subject: subject.trim() }),
    ...(customerId === '' ? {} : { customer_id: customerId }),
    ...(actorId === '' ? {} : { actor_id: actorId }),
    ...(interval === '' ? {} : { interval }),
    ...(hasMoney ? { currency: currency.toLowerCase() } : {}),
    ...(each === undefined ? {} : { amount: each }),
    ...(most === undefined ? {} : { max_amount: most }),
  }
}
