import { NumberInput, SegmentedControl, Select, Textarea, TextInput } from '@mantine/core'
import { api, useWrite } from '../../api/client.ts'
import { useConnectionNames } from '../../api/connections.ts'
import { parseMoney } from '../../format/money.ts'
import { optionsOf } from '../../parts/filters/index.ts'
import { Form, useFields } from '../../parts/form/index.ts'
import { useProjectId } from '../../parts/page/index.ts'
import classes from './settings.module.css'

type Body = Parameters<typeof api.expectedChanges.create>[0]

const EMPTY = {
  kind: 'refund' as Body['kind'],
  note: '',
  connectionId: '',
  subject: '',
  count: 1,
  currency: '',
  amount: '',
  total: '',
  endsIn: '86400',
}
type Fields = typeof EMPTY

const KINDS = [
  { value: 'refund', label: 'Refunds' },
  { value: 'cancellation', label: 'Cancellations' },
]
const DURATIONS = [
  { value: '3600', label: 'In an hour' },
  { value: '86400', label: 'In a day' },
  { value: '604800', label: 'In a week' },
  { value: '2592000', label: 'In 30 days' },
]

/** The form of a new expected change. */
export function NewExpectedChange({ close }: { close: () => void }) {
  const projectId = useProjectId()
  const names = useConnectionNames(projectId)
  const { fields, field, edit } = useFields(EMPTY)
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
      <NumberInput label="How many" min={1} max={1000} {...field('count')} />
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
          <TextInput label="In total at most" placeholder="No limit" {...field('total')} />
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
      <Select label="Ends" data={DURATIONS} {...field('endsIn')} />
    </Form>
  )
}

/** The body of the request, or what is missing. */
function bodyOf(fields: Fields, project_id: string): Body | string {
  const { kind, note, connectionId, subject, count, currency, amount, total, endsIn } = fields
  if (note.trim() === '') return 'Say why'
  if (!Number.isInteger(count) || count < 1) return 'Say how many'
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
    max_changes: count,
    expires_in_seconds: Number(endsIn),
    ...(connectionId === '' ? {} : { connection_id: connectionId }),
    ...(subject.trim() === '' ? {} : { subject: subject.trim() }),
    ...(hasMoney ? { currency: currency.toLowerCase() } : {}),
    ...(each === undefined ? {} : { amount: each }),
    ...(most === undefined ? {} : { max_amount: most }),
  }
}
