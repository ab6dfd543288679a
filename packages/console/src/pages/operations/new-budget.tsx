import type { NewBudget as NewBudgetBody } from '@backstop/client'
import { Button, Group, Modal, Select, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { api } from '../../api/client.ts'
import { parseMoney } from '../../format/money.ts'
import { optionsOf } from '../../parts/filter-bar.tsx'
import { Problem } from '../../parts/problem.tsx'
import { INTERVALS } from './words.ts'

const INTERVAL_OPTIONS = Object.entries(INTERVALS).map(([value, label]) => ({ value, label }))
const ALL = 'all'

interface Props {
  projectId: string
  /** The names of the connections, by their ids. */
  names: ReadonlyMap<string, string>
}

export function NewBudget(props: Props) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <>
      <Button onClick={() => setIsOpen(true)}>New budget</Button>
      <Modal opened={isOpen} onClose={() => setIsOpen(false)} title="New budget">
        <NewBudgetForm {...props} />
      </Modal>
    </>
  )
}

function NewBudgetForm({ projectId, names }: Props) {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const [currency, setCurrency] = useState('EUR')
  const [cap, setCap] = useState('')
  const [interval, setInterval] = useState<NewBudgetBody['interval']>('month')
  const [connection, setConnection] = useState(ALL)
  const create = useMutation({
    mutationFn: (body: NewBudgetBody) => api.budgets.create(body),
    async onSuccess({ budget_id }) {
      await queryClient.invalidateQueries({ queryKey: ['budgets'] })
      void navigate({ to: '/p/$project/budgets/$id', params: { project: projectId, id: budget_id } })
    },
  })
  const code = currency.trim().toLowerCase()
  const amount = parseMoney(cap, code)
  const isCurrency = /^[a-z]{3}$/.test(code)
  const isRight = name.trim() !== '' && isCurrency && amount !== undefined
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!isRight || create.isPending) return
    create.mutate({
      project_id: projectId,
      name: name.trim(),
      currency: code,
      cap: amount,
      interval,
      ...(connection === ALL ? {} : { connection_id: connection }),
    })
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <TextInput
          label="Name"
          placeholder="Refunds of the month"
          data-autofocus
          maxLength={200}
          value={name}
          onChange={event => setName(event.currentTarget.value)}
        />
        <Group grow align="flex-start">
          <TextInput
            label="Cap"
            placeholder="500.00"
            inputMode="decimal"
            value={cap}
            onChange={event => setCap(event.currentTarget.value)}
            error={
              cap !== '' && isCurrency && amount === undefined ? `Enter an amount in ${code.toUpperCase()}` : undefined
            }
          />
          <TextInput
            label="Currency"
            maxLength={3}
            value={currency}
            onChange={event => setCurrency(event.currentTarget.value)}
            error={currency !== '' && !isCurrency ? 'Enter a code, such as EUR' : undefined}
          />
        </Group>
        <Select
          label="Period (UTC)"
          data={INTERVAL_OPTIONS}
          value={interval}
          onChange={chosen => setInterval((chosen ?? 'month') as NewBudgetBody['interval'])}
        />
        <Select
          label="Counts operations of"
          data={[{ value: ALL, label: 'All connections' }, ...optionsOf(names)]}
          value={connection}
          onChange={chosen => setConnection(chosen ?? ALL)}
        />
        <p className="dim">It counts operations that are requested from now on, in this currency.</p>
        {create.error !== null && <Problem error={create.error} what="The budget was not created" />}
        <Group justify="flex-end">
          <Button type="submit" disabled={!isRight} loading={create.isPending}>
            Create budget
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
