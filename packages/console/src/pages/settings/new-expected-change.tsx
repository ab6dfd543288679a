import type { Action } from '@backstop/client'
import { NumberInput, SegmentedControl, Select, Textarea, TextInput } from '@mantine/core'
import { api, useWrite } from '../../api/client.ts'
import { useConnectionNames } from '../../api/connections.ts'
import { decimalAmount, parseMoney } from '../../format/money.ts'
import { optionsOf } from '../../parts/filters/index.ts'
import { Form, useFields } from '../../parts/form/index.ts'
import { useProjectId } from '../../parts/page/index.ts'
import { INTERVALS } from '../operations/words.ts'
import classes from './settings.module.css'

type Body = Parameters<typeof api.expectedChanges.create>[0]

const EMPTY = {
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
type Fields = typeof EMPTY

/**
 * The fields for more changes like this action: as much money in each week, by the same actor or for the same customer. If neither is
 * known, only one more of the same payment or subscription, because a rule for everybody would hide what others do.
 */
function fieldsLike(action: Action): Partial<Fields> {
  const { kind, connection_id, customer, actor_id, subject, amount, currency } = action
  // The API refuses ids that contain an e-mail address, because they are erased.
  const customerId = customer?.id?.includes('@') ? '' : (customer?.id ?? '')
  const isOfSomebody = actor_id !== undefined || customerId !== ''
  return {
    kind: kind === 'cancellation' ? kind : 'refund',
    connectionId: connection_id,
    ...(isOfSomebody ? { actorId: actor_id ?? '', customerId: actor_id === undefined ? customerId : '' } : { subject }),
    interval: isOfSomebody ? 'week' : '',
    count: isOfSomebody && kind !== 'cancellation' ? '' : '1',
    ...(amount === null || currency === null
      ? {}
      : { currency: currency.toUpperCase(), total: decimalAmount(amount, currency) }),
    endsIn: isOfSomebody ? '7776000' : '86400',
  }
}

const KINDS = [
  { value: 'refund', label: 'Refunds' },
  { value: 'cancellation', label: 'Cancellations' },
]
const LIMITS = [
  { value: '', label: 'In total' },
  ...Object.entries(INTERVALS).map(([value, label]) => ({ value, label })),
]
const DURATIONS = [
  { value: '3600', label: 'In an hour' },
  { value: '86400', label: 'In a day' },
  { value: '604800', label: 'In a week' },
  { value: '2592000', label: 'In 30 days' },
]
/** Only with limits that apply to each interval. */
const LONG_DURATIONS = [
  { value: '7776000', label: 'In 90 days' },
  { value: '15552000', label: 'In 180 days' },
  { value: '31536000', label: 'In a year' },
]

/** The form of a new expected change. @param like it begins with changes like this action */
export function NewExpectedChange({ close, like }: { close: () => void; like?: Action }) {
  const projectId = useProjectId()
  const names = useConnectionNames(projectId)
  const { fields, field, edit } = useFields(() => ({ ...EMPTY, ...(like === undefined ? {} : fieldsLike(like)) }))
  const body = bodyOf(fields, projectId)
  const create = useWrite((given: Body) => api.expectedChanges.create(given), {
    refresh: ['expected-changes'],
    onDone: close,
  })
  const isRefund = fields.kind === 'refund'
  return (
    <Form
      write={create}
      failed="The expected change was not created"
      button="Create"
      isComplete={typeof body !== 'string'}
      onSubmit={() => typeof body !== 'string' && create.mutate(body)}
      onCancel={close}
      hint={typeof body === 'string' && fields.note !== '' && <span className="dim">{body}</span>}
    >
      <SegmentedControl data={KINDS} {...field('kind')} />
      <Textarea
        label="Why"
        description="Shown with each change that it explains"
        required
        data-autofocus
        maxLength={500}
        placeholder="Goodwill after the outage, ticket 4711"
        {...field('note')}
      />
      <div className={classes.pair}>
        <NumberInput label="At most" placeholder="1,000" min={1} max={1000} {...field('count')} />
        <Select label="Limits apply" allowDeselect={false} data={LIMITS} {...field('interval')} />
      </div>
      {isRefund && (
        <div className={classes.money}>
          <TextInput
            label="Currency"
            placeholder="EUR"
            maxLength={3}
            value={fields.currency}
            onChange={event => edit({ currency: event.currentTarget.value.toUpperCase() })}
          />
          <TextInput label="Each" placeholder="Any amount" {...field('amount')} />
          <TextInput label="Together at most" placeholder="No limit" {...field('total')} />
        </div>
      )}
      <Select
        label="Connection"
        clearable
        allowDeselect
        placeholder="All connections"
        data={optionsOf(names)}
        {...field('connectionId')}
        value={fields.connectionId || null}
      />
      <TextInput
        label={isRefund ? 'Payment' : 'Subscription'}
        description="Its id at the provider. Empty: any"
        {...field('subject')}
      />
      <TextInput
        label="Customer"
        description="Its id at the provider of the connection. Empty: any"
        {...field('customerId')}
      />
      <TextInput label="Made by" description="The id of an actor, acr_… Empty: anybody" {...field('actorId')} />
      <Select
        label="Ends"
        allowDeselect={false}
        data={fields.interval === '' ? DURATIONS : [...DURATIONS, ...LONG_DURATIONS]}
        {...field('endsIn')}
      />
    </Form>
  )
}

/** The body of the request, or what is missing. */
function bodyOf(fields: Fields, project_id: string): Body | string {
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
