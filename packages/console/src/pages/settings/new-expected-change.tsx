import { Button, Group, Modal, NumberInput, SegmentedControl, Select, Textarea, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import type { NewExpectedChange as Body } from '../../api/expected-changes.ts'
import { parseMoney } from '../../format/money.ts'
import { optionsOf } from '../../parts/filter-bar.tsx'
import { Problem } from '../../parts/problem.tsx'
import classes from './settings.module.css'

interface Props {
  projectId: string
  /** The names of the connections, by their ids. */
  names: ReadonlyMap<string, string>
  isOpen: boolean
  onClose: () => void
}

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

const DURATIONS = [
  { value: '3600', label: 'In an hour' },
  { value: '86400', label: 'In a day' },
  { value: '604800', label: 'In a week' },
  { value: '2592000', label: 'In 30 days' },
]

/** The form of a new expected change. */
export function NewExpectedChange({ projectId, names, isOpen, onClose }: Props) {
  const queryClient = useQueryClient()
  const [fields, setFields] = useState(EMPTY)
  const body = bodyOf(fields, projectId)
  const create = useMutation({
    mutationFn: (given: Body) => api.expectedChanges.create(given),
    async onSuccess() {
      await queryClient.invalidateQueries({ queryKey: ['expected-changes'] })
      setFields(EMPTY)
      onClose()
    },
  })
  const edit = (changed: Partial<Fields>) => setFields({ ...fields, ...changed })
  return (
    <Modal opened={isOpen} onClose={onClose} title="New expected change" size="md">
      <form
        className={classes.form}
        onSubmit={event => {
          event.preventDefault()
          if (typeof body !== 'string') create.mutate(body)
        }}
      >
        <SegmentedControl
          data={[
            { value: 'refund', label: 'Refunds' },
            { value: 'cancellation', label: 'Cancellations' },
          ]}
          value={fields.kind}
          onChange={kind => edit({ kind: kind as Fields['kind'] })}
        />
        <Textarea
          label="Why"
          description="Shown with each change that it explains"
          required
          data-autofocus
          maxLength={500}
          placeholder="Goodwill after the outage, ticket 4711"
          value={fields.note}
          onChange={event => edit({ note: event.currentTarget.value })}
        />
        <NumberInput
          label="How many"
          min={1}
          max={1000}
          value={fields.count}
          onChange={value => edit({ count: Number(value) })}
        />
        {fields.kind === 'refund' && <MoneyFields fields={fields} edit={edit} />}
        <Select
          label="Connection"
          clearable
          allowDeselect
          placeholder="All connections"
          data={optionsOf(names)}
          value={fields.connectionId || null}
          onChange={value => edit({ connectionId: value ?? '' })}
        />
        <TextInput
          label={fields.kind === 'refund' ? 'Payment' : 'Subscription'}
          description="Its id at the provider. Empty: any"
          value={fields.subject}
          onChange={event => edit({ subject: event.currentTarget.value })}
        />
        <Select
          label="Ends"
          data={DURATIONS}
          value={fields.endsIn}
          onChange={endsIn => endsIn !== null && edit({ endsIn })}
        />
        {create.error !== null && <Problem error={create.error} what="The expected change was not created" />}
        <Group justify="flex-end" gap="sm">
          {typeof body === 'string' && fields.note !== '' && <span className="dim">{body}</span>}
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" disabled={typeof body === 'string'} loading={create.isPending}>
            Create
          </Button>
        </Group>
      </form>
    </Modal>
  )
}

function MoneyFields({ fields, edit }: { fields: Fields; edit: (changed: Partial<Fields>) => void }) {
  return (
    <div className={classes.money}>
      <TextInput
        label="Currency"
        placeholder="EUR"
        maxLength={3}
        value={fields.currency}
        onChange={event => edit({ currency: event.currentTarget.value.toUpperCase() })}
      />
      <TextInput
        label="Each"
        placeholder="Any amount"
        value={fields.amount}
        onChange={event => edit({ amount: event.currentTarget.value })}
      />
      <TextInput
        label="In total at most"
        placeholder="No limit"
        value={fields.total}
        onChange={event => edit({ total: event.currentTarget.value })}
      />
    </div>
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
